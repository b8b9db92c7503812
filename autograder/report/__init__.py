"""The class report: what an instructor wants to know before the next lesson."""

from autograder.report.page import write

__all__ = ["write"]
