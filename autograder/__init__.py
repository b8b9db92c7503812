"""Check answers to the course's exercises: `from autograder import check`.

A check imports torch and nothing else that a learner's machine might lack; the package itself
imports nothing, so that a grader can start other things first.
"""

from typing import Any

__all__ = ["check"]


def __getattr__(name: str) -> Any:
    if name != "check":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from autograder.checks.check import check

    globals()["check"] = check
    return check
