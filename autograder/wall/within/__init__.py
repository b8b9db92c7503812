"""What goes behind the wall: the warm process, its confinement, the learner's side."""
