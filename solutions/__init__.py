"""The reference solutions: the only copy of the course's code, one idea per file."""

COURSE = "transformers-from-the-ground-up"  # tells this package from others named `solutions`
