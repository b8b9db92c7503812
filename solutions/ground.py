"""Which files a piece of code rests on: what it imports from this repository, and what it names."""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("solutions", "autograder")
NOT_SOURCES = {"_build", "__pycache__", ".venv", ".git", ".ipynb_checkpoints"}


@cache  # many pages rest on the same modules
def references(source: str, package: tuple[str, ...]) -> tuple[set[str], set[str], bool]:
    """Return what Python code names: modules, strings, and whether it imports by a computed name.

    `from a.b import c` counts as a.b and a.b.c, since c may be a module, and an import of
    f"a.b.{name}" as a.b.*; package is where the code lives, for relative imports.
    """
    modules, strings, known, importers = set(), set(), set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            modules.update([base, *(f"{base}.{alias.name}" for alias in node.names)])
            importers.update(id(a) for a in node.names if a.name == "import_module" and a.asname)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.JoinedStr):
            start = node.args[0].values[0]
            if isinstance(start, ast.Constant) and start.value.endswith("."):
                known.add(id(node.func))  # if it imports: the package is written out
                modules.add(start.value + "*")
        if getattr(node, "id", getattr(node, "attr", None)) in ("import_module", "__import__"):
            importers.add(id(node))
    return modules, strings, bool(importers - known)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield every source file below a folder, or the file itself."""
    if folder.is_file():
        yield folder
        return
    for path in folder.rglob("*"):
        if path.is_file() and not NOT_SOURCES.intersection(path.parts) and path.suffix != ".pyc":
            yield path


def module_files(module: str, root: Path) -> Iterator[Path]:
    """Yield the files that run when one of our modules is imported: its packages and itself."""
    parts = module.split(".")
    if parts[0] not in PACKAGES:
        return
    for n in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:n])
        if parts[n - 1] == "*":
            yield from files_below(place.parent)
            return
        for file in (place / "__init__.py", place.with_suffix(".py")):
            if file.is_file():
                yield file


def mentioned_files(text: str, root: Path = ROOT) -> set[Path]:
    """Return the files of `solutions` that any text mentions by a dotted name.

    Where the name ends at a folder, all of it counts: which of its files is meant stands elsewhere.
    """
    found: set[Path] = set()
    for name in set(re.findall(r"\bsolutions(?:\.\w+)+", text)):
        place = root / "solutions"
        for part in name.split(".")[1:]:
            if not (place / part).is_dir():
                break
            place = place / part
        else:
            found.update(place.glob("*.py"))
            continue
        if (file := place / f"{part}.py").is_file():
            found.add(file)
    return found


def named_files(strings: Iterable[str], folder: Path, root: Path) -> Iterator[Path]:
    """Yield the files that strings name, as seen from a folder: a figure's script, a data file."""
    for text in strings:
        if not 0 < len(text.encode(errors="replace")) < 200 or "\n" in text or "\0" in text:
            continue  # no name of a file; some systems refuse to look for longer ones
        if not (place := folder / text).exists():
            continue  # most strings; asked first, since to resolve a path takes far longer
        place = place.resolve()
        ours = place.is_relative_to(root) and place not in (root, folder, *folder.parents)
        if ours and not NOT_SOURCES.intersection(place.parts):
            yield from files_below(place)


def follow(found: set[Path], root: Path) -> set[Path]:
    """Add what the files found import and name, until nothing new appears."""
    waiting, found = list(found), set()
    while waiting:
        path = waiting.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        if path.suffix != ".py":
            continue
        waiting.extend(path.parent.glob(path.stem + ".*"))  # figure.py and its figure.js
        package = path.parent.relative_to(root).parts if path.is_relative_to(root) else ()
        modules, strings, computed = references(path.read_text(encoding="utf-8"), package)
        for module in modules:
            waiting.extend(module_files(module, root))
        waiting.extend(named_files(strings, path.parent, root))
        if computed and package:
            waiting.extend(files_below(root / package[0]))
    return found


def digest(files: Iterable[Path], root: Path = ROOT) -> str:
    """Return a short text that changes when any of the files changes."""
    made = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(root) if path.is_relative_to(root) else path
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        made.update(f"{name} {content}\n".encode())
    return made.hexdigest()
