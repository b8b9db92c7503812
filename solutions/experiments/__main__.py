"""Run beforehand what the book's pages ask for: two at a time, one thread each.

python -m solutions.experiments [LESSON ...]
"""

import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from tqdm import tqdm

from solutions.experiments import place, seconds
from solutions.experiments.listed import described, wanted


def main(lessons: list[str]) -> int:
    runs = wanted(lessons)
    missing = [run for run in runs if not place(*run).exists()]
    print(f"{len(runs)} experiments, {len(runs) - len(missing)} kept from before.")
    if not missing:
        return 0
    start, failed = time.perf_counter(), 0
    workers = min(len(missing), len(os.sched_getaffinity(0)))
    with (
        ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool,
        tqdm(total=len(missing), unit="run", disable=not sys.stderr.isatty()) as bar,
    ):
        waiting = {pool.submit(seconds, *run): run for run in missing}
        try:
            for done in as_completed(waiting):
                bar.update()
                what = described(*waiting[done])[:90]
                try:
                    bar.write(f"{done.result():6.1f} s  {what}")
                except Exception as error:
                    failed += 1
                    bar.write(f"FAILED   {what}: {type(error).__name__}: {error}")
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("Stopped. What has finished is kept.")
            return 130
    print(f"{len(missing) - failed} done, {failed} failed, {time.perf_counter() - start:.0f} s.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
