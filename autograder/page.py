"""The door that the book's pages import: `from autograder.page import common_slips, practice`."""

from autograder.release.pieces import common_slips, practice

__all__ = ["common_slips", "practice"]
