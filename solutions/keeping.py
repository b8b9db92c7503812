"""Say where to keep what must outlast a runtime: on Drive where it is mounted.

Colab takes a runtime away after some hours, and all its files with it. Checkpoints, trained models
and a learner's progress go through `kept`, so that they are found again in the next one.
"""

import shutil
from pathlib import Path

from solutions import COURSE
from solutions.whole_file import whole_file

DRIVE = Path("/content/drive/MyDrive")  # where Colab's own button mounts it


def on_drive() -> bool:
    """Say whether a Drive is mounted."""
    return DRIVE.is_dir()


def folder() -> Path:
    """Return the course's folder on Drive where it is mounted, else the one of the notebook."""
    return DRIVE / COURSE if on_drive() else Path.cwd()


def kept(name: Path | str) -> Path:
    """Return the path of a file to be kept: a bare name lies in `folder()`, a path stays as it is.

    What was begun beside the notebook, before Drive was mounted, is copied there and goes on there.
    """
    name = Path(name)
    if name.is_absolute() or len(name.parts) > 1:
        return name
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if on_drive() and name.exists() and not path.exists():
        with whole_file(path) as part:
            shutil.copyfile(name, part)
    return path
