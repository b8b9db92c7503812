"""The door that courses name in their nbgrader_config.py, those made before this one too."""

from autograder.report.feedback import harmless_markdown

__all__ = ["harmless_markdown"]
