"""The rooms of the code: who imports whom is written in ARCHITECTURE.md, and holds."""

import ast
import re
from pathlib import Path

import pytest

from autograder.repository import ROOT

PACKAGE = ROOT / "autograder"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
EVERYBODY_S = {"errors", "repository"}


def table() -> dict[str, set[str]]:
    """Read the table: each room, and the rooms it may import."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| ([^|]*) \|$", text, flags=re.MULTILINE)
    return {room: set(re.findall(r"\w+", names)) & set(ROOMS) for room, names in rows}


def imported(file: Path) -> set[str]:
    """Return the modules that a file imports, wherever it does so."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_the_architecture_allows(room):
    allowed = table()[room] | {room} | EVERYBODY_S
    for file in (PACKAGE / room).rglob("*.py"):
        ours = {name.split(".")[1] for name in imported(file) if name.startswith("autograder.")}
        assert ours <= allowed, f"{file.relative_to(ROOT)} imports {sorted(ours - allowed)}"


def test_solutions_import_nothing_of_the_autograder():
    for file in (ROOT / "solutions").rglob("*.py"):
        assert not any(name.split(".")[0] == "autograder" for name in imported(file)), file


def test_what_goes_behind_the_wall_imports_only_itself():
    carried = [*(PACKAGE / "seam").rglob("*.py"), *(PACKAGE / "wall" / "within").rglob("*.py")]
    for file in carried:
        for name in imported(file):
            inside = name.startswith(("autograder.seam", "autograder.wall.within"))
            assert inside or not name.startswith(("autograder", "solutions")), (file, name)
