"""Run a page again when code or data it rests on has changed, and only then.

Jupyter Book's execution cache looks only at a page's own cells. A page also rests on what those
cells import from this repository, so without this rule it could show new code above old output.
This file is a Sphinx extension (see _config.yml), so every way of building the book obeys it.
"""

import json
import re
from pathlib import Path

from ahead import read_page, run_ahead

from solutions.ground import (
    PACKAGES,
    digest,
    files_below,
    follow,
    module_files,
    named_files,
    references,
)

INCLUDED = re.compile(r"\{literalinclude\}[ \t]+(\S+)")
MENTIONED = re.compile(rf"\b({'|'.join(PACKAGES)})\b")


def code_cells(page: Path) -> list[str]:
    """Return the code of a page's cells, in order; none if the page runs no code."""
    notebook = read_page(page)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"] if notebook else []


def ground(page: Path, root: Path) -> set[Path]:
    """Return every file that a page's output rests on, besides the page itself."""
    cells = code_cells(page)
    if not cells:
        return set()
    text = page.read_text(encoding="utf-8")
    found = {(page.parent / name).resolve() for name in INCLUDED.findall(text)}
    for cell in cells:
        lines = cell.splitlines()
        magic = "\n".join(line for line in lines if line.lstrip().startswith(("%", "!")))
        python = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
        try:
            modules, strings, computed = references(python, ())
        except SyntaxError:  # IPython's own syntax: take no risk
            modules, strings, computed = set(), {cell}, True
        for module in modules:
            found.update(module_files(module, root))
        found.update(named_files(strings, page.parent, root))
        whole = set(PACKAGES) if computed else set(MENTIONED.findall("\n".join([magic, *strings])))
        for package in whole:  # run as a command or imported by a computed name: could be any of it
            found.update(files_below(root / package))
    found = follow(found, root)
    if any(path.is_relative_to(root / "solutions") for path in found):
        found.update(files_below(root / "solutions" / "data"))
    style = root / "solutions" / "figures" / "course.mplstyle"  # every plot is drawn with it
    return found | set(files_below(root / "requirements.txt")) | set(files_below(style))


def fingerprint(page: Path, root: Path) -> str:
    """Return a short text that changes when anything the page rests on changes."""
    return digest(ground(page, root), root)


def forget(cache_folder: Path, pages: dict[str, str]) -> list[str]:
    """Drop the cached runs of every page whose fingerprint is not the recorded one; name them."""
    from jupyter_cache import get_cache

    cache_folder.mkdir(parents=True, exist_ok=True)
    record = cache_folder / "fingerprints.json"  # lives and dies with the cache it speaks of
    before = json.loads(record.read_text()) if record.exists() else {}
    kept = {name for name, print_ in pages.items() if before.get(name) == print_}
    cache = get_cache(cache_folder)
    for run in cache.list_cache_records():
        if Path(run.uri).stem not in kept:
            cache.remove_cache(run.pk)
    record.write_text(json.dumps(pages, indent=1, sort_keys=True))
    return sorted(pages.keys() - kept)


def fingerprints(app) -> dict[str, str]:
    """Return the fingerprint of every page of the book."""
    root = Path(app.srcdir).resolve().parent
    docnames = sorted(app.env.found_docs)
    pages = {name: Path(app.srcdir).resolve() / f"{name}.md" for name in docnames}
    return {name: fingerprint(page, root) for name, page in pages.items() if page.exists()}


def before_reading(app, env, added, changed, removed) -> list[str]:
    """Tell Sphinx which pages to read again: those that rest on a change, those that failed."""
    cache_folder = Path(app.outdir).parent / ".jupyter_cache"
    prints = fingerprints(app)
    stale = set(forget(cache_folder, prints))
    pages = (Path(app.srcdir).resolve() / f"{name}.md" for name in prints)
    run_ahead(cache_folder, pages, app.config.nb_execution_timeout)
    for log in (Path(app.outdir) / "reports").glob("*.err.log"):
        stale.add(log.name.removesuffix(".err.log"))
        log.unlink()
    return sorted(stale & env.found_docs)


def after_building(app, exception) -> None:
    """Fail the build on a failed cell; forget pages whose ground moved while they ran."""
    record = Path(app.outdir).parent / ".jupyter_cache" / "fingerprints.json"
    if exception is None and record.exists():
        now = fingerprints(app)
        then = json.loads(record.read_text())
        record.write_text(json.dumps({k: v for k, v in then.items() if now.get(k) == v}, indent=1))
    failed = [log.name for log in (Path(app.outdir) / "reports").glob("*.err.log")]
    if failed:
        pages = ", ".join(name.removesuffix(".err.log") for name in sorted(failed))
        print(f"book: a cell failed in: {pages}. The traceback is above and in reports/.")
        app.statuscode = 1


def setup(app) -> dict:
    """Hook the rule into Sphinx."""
    app.connect("env-get-outdated", before_reading)
    app.connect("build-finished", after_building)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
