"""What learners handed in and what they got is for the owner's eyes, on a shared machine too."""

from pathlib import Path

PRIVATE = (
    *("gradebook.db", "seed", "marks.json", "status.json", "grades.csv", "class_report.html"),
    *("submitted", "results", "repaired", "autograded", "feedback"),
)
MADE_LATER = ("results", "repaired")  # by grading; here, so that they are private at once


def make_private(root: Path, group: bool = False) -> None:
    """Take everybody else's rights to a course's files; a group that shares it keeps its own."""
    others = 0o007 if group else 0o077
    for name in MADE_LATER:
        (root / name).mkdir(mode=0o700 | (0o070 if group else 0), exist_ok=True)
    for name in PRIVATE:
        path = root / name
        if path.exists():
            mode = path.stat().st_mode
            if mode & others:
                path.chmod(mode & ~others & 0o7777)
