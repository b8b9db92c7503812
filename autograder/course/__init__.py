"""A course on disk: what was handed in, whose it is, how it is healed."""
