"""Find and read the notebook somebody handed in, whatever it was called and however old it is."""

import json
import re
from pathlib import Path
from typing import Any

from autograder.errors import Missing, Unreadable

MAX_BYTES = 50_000_000
MAX_CELLS = 5000


def find(folder: Path, lesson: str) -> tuple[Path, list[str]]:
    """Return a lesson's notebook in a learner's folder, also a renamed one, and what to note."""
    files = [f for f in folder.glob("*") if f.is_file() and not f.is_symlink()]
    notebooks = [f for f in files if ".ipynb" in f.name.lower()]
    exact = [f for f in notebooks if f.name == f"{lesson}.ipynb"]
    if exact:
        return exact[0], []
    named = [f for f in notebooks if _plain(lesson) in _plain(f.name)]
    if not named and len(notebooks) == 1:
        named = notebooks
    if not named:
        found = ", ".join(sorted(f.name for f in files)[:5])
        raise Missing(f"No notebook for {lesson}." + (f" Found: {found}." if found else ""))
    newest = max(named, key=lambda f: (f.stat().st_mtime, f.name))
    return newest, [f"The file was called {newest.name!r}, not {lesson + '.ipynb'!r}."]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def read(path: Path) -> dict:
    """Read a notebook file of any age; raise Unreadable with a sentence."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Unreadable(f"The file is larger than {MAX_BYTES // 1_000_000} MB.")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("The file is not text, so it is no notebook.") from None
    except OSError as problem:
        raise Unreadable(f"The file cannot be read: {problem.strerror}.") from None
    if not text.strip():
        raise Unreadable("The file is empty.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError, MemoryError) as problem:
        where = f" (line {problem.lineno})" if isinstance(problem, json.JSONDecodeError) else ""
        raise Unreadable(f"The file is damaged: it is not valid JSON{where}.") from None
    if not isinstance(data, dict) or raw_cells(data) is None:
        raise Unreadable("The file is JSON but no notebook: it has no list of cells.")
    if len(raw_cells(data) or []) > MAX_CELLS:
        raise Unreadable(f"The notebook has more than {MAX_CELLS} cells.")
    return data


def as_dict(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def raw_cells(notebook: dict) -> list | None:
    """Return the list of cells, also of format 3, where they stand in worksheets."""
    if isinstance(notebook.get("cells"), list):
        return notebook["cells"]
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    lists = [as_dict(sheet).get("cells") for sheet in sheets]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]
