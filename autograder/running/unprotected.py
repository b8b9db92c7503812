"""Processes without a wall, for who asks for it in so many words: `--no-sandbox`.

The learner's code has the rights of whoever grades. All else is as behind a wall: the checks, the
seed and the scores stay on this side, a cell that dies or overruns its time costs its own points.
"""

import os
import sys
from pathlib import Path

from autograder.wall.wall import ENVIRONMENT, Wall

UNPROTECTED = "No sandbox: learners' code ran with your rights. Grade only what you trust."
SECRETS = ("AUTOGRADER_SEED", "NBGRADER_EXECUTION")
OURS = ("PATH", "HOME", "LANG")  # what stays as it is outside


class Open(Wall):
    """A warm zygote for one lesson, whose children are shut in by nothing."""

    needs_sandbox = False

    def command(self, inside: Path) -> list[str]:
        return [sys.executable]

    def environment(self, inside: Path) -> dict[str, str]:
        work = inside.parent / "work"  # goes when the wall is closed
        work.mkdir()
        mine = {k: v for k, v in os.environ.items() if k not in SECRETS}
        theirs = {k: v for k, v in ENVIRONMENT.items() if k not in OURS}
        folders = dict.fromkeys(("TMPDIR", "MPLCONFIGDIR", "IPYTHONDIR"), str(work))
        return {**mine, **theirs, **folders, "PYTHONPATH": str(inside)}
