"""The seam between checks and the code under test: all of it also goes behind the wall."""
