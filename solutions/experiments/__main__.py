"""Run beforehand what the book's pages ask for: two at a time, one thread each.

python -m solutions.experiments [LESSON ...]
"""

import importlib
import multiprocessing
import os
import pkgutil
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import zip_longest

from tqdm import tqdm

import solutions.experiments as experiments


def wanted(lessons: list[str]) -> list[experiments.Run]:
    """Return the runs of the lessons' files (each has a list RUNS, the longest first).

    The first of every lesson come first, so that no long one is left over at the end, alone.
    A file that says ON_DEMAND is run only where it is named.
    """
    names = lessons or [m.name for m in pkgutil.iter_modules(experiments.__path__)]
    modules = [importlib.import_module(f"solutions.experiments.{n}") for n in names if n[0] != "_"]
    if not lessons:
        modules = [module for module in modules if not getattr(module, "ON_DEMAND", False)]
    ranks = zip_longest(*(module.RUNS for module in modules))
    return [run for rank in ranks for run in rank if run is not None]


def describe(run: experiments.Run) -> str:
    function, arguments = run
    given = ", ".join(f"{k}={v}" for k, v in arguments.items())
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}({given})"[:90]


def main(lessons: list[str]) -> int:
    runs = wanted(lessons)
    missing = [run for run in runs if not experiments.place(*run).exists()]
    print(f"{len(runs)} experiments, {len(runs) - len(missing)} kept from before.")
    if not missing:
        return 0
    start, failed = time.perf_counter(), 0
    workers = min(len(missing), len(os.sched_getaffinity(0)))
    with (
        ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool,
        tqdm(total=len(missing), unit="run", disable=not sys.stderr.isatty()) as bar,
    ):
        waiting = {pool.submit(experiments.seconds, *run): run for run in missing}
        try:
            for done in as_completed(waiting):
                bar.update()
                try:
                    bar.write(f"{done.result():6.1f} s  {describe(waiting[done])}")
                except Exception as error:
                    failed += 1
                    bar.write(
                        f"FAILED   {describe(waiting[done])}: {type(error).__name__}: {error}"
                    )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("Stopped. What has finished is kept.")
            return 130
    print(f"{len(missing) - failed} done, {failed} failed, {time.perf_counter() - start:.0f} s.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
