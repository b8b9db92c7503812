"""Run pages side by side before Sphinx reads them one after another.

MyST-NB runs a page when it comes to it, on one core. Here the pages that the cache does not hold
are run as many at a time as there are cores, and kept in that same cache, where MyST-NB finds
them. A page that fails is not kept: MyST-NB runs it again and reports it in its own way.
Either way a page may ask only for runs that are listed (solutions/experiments/listed.py).
"""

import os
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.read import read_myst_markdown_notebook
from nbformat import NotebookNode


def read_page(page: Path) -> NotebookNode | None:
    """Return a page as a notebook; None if it runs no code."""
    text = page.read_text(encoding="utf-8")
    return read_myst_markdown_notebook(text, path=page) if "{code-cell}" in text else None


def missing(cache_folder: Path, pages: Iterable[Path]) -> dict[Path, NotebookNode]:
    """Return the pages with code that the cache holds no run of, as notebooks."""
    cache, found = get_cache(cache_folder), {}
    for page in pages:
        if (notebook := read_page(page)) is None:
            continue
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            found[page] = notebook
    return found


def execute(notebook: NotebookNode, folder: Path, timeout: int | None) -> ExecutionResult:
    """Run a page in its folder, with a kernel that speaks up only when something is wrong."""
    quiet = ["--IPKernelApp.log_level=40"]
    how = {"extra_arguments": quiet, "shutdown_kernel": "immediate"}  # nothing is left to be done
    return single_nb_execution(notebook, str(folder), timeout, False, **how)


def listed_runs_only(root: Path, file: Path) -> None:
    """Let the kernels that are started from here on give pages no run that is not in the list."""
    if not (root / "solutions" / "experiments").is_dir():
        return  # a book without experiments
    from solutions.experiments.listed import LISTED, write_list  # imports torch: takes seconds

    write_list(file)
    os.environ[LISTED] = str(file)
    os.environ["PYTHONSTARTUP"] = str(Path(__file__).with_name("first_cell.py"))


def run_ahead(cache_folder: Path, pages: Iterable[Path], timeout: int | None) -> None:
    """Run the missing pages side by side and keep those that succeed."""
    waiting = missing(cache_folder, pages)
    if waiting:
        listed_runs_only(next(iter(waiting)).parents[1], cache_folder / "listed_runs.txt")
    workers = min(len(waiting), len(os.sched_getaffinity(0)))
    if workers < 2:
        return  # nothing to gain
    cache, start = get_cache(cache_folder), time.monotonic()
    longest_first = sorted(waiting, key=lambda page: -len(waiting[page].cells))
    pool = ThreadPoolExecutor(workers)  # threads will do: the work is done by the kernels
    try:
        running: dict[Future, Path] = {
            pool.submit(execute, waiting[page], page.parent, timeout): page
            for page in longest_first
        }
        for count, done in enumerate(as_completed(running), start=1):
            page, result = running[done], done.result()
            if result.err is None:
                seconds = {"execution_seconds": result.time}
                bundle = CacheBundleIn(result.nb, str(page), data=seconds)
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            outcome = "failed" if result.err else "ran"
            print(f"pages: {count} of {len(running)}: {page.stem} {outcome}, {result.time:.0f} s")
    finally:
        pool.shutdown(cancel_futures=True)
    print(f"pages: {len(running)} run {workers} at a time in {time.monotonic() - start:.0f} s")
