"""The door that released notebooks import: `from autograder.puzzle import puzzle`."""

from autograder.release.pictures import puzzle

__all__ = ["puzzle"]
