"""Prove that the checks are right: `python -m autograder verify [LESSON ...]`.

First, in seconds, what is dead (first_look.py): nothing else is tried before that is cured. Then,
for every lesson: the reference and every other right solution get full marks, the empty notebook
gets nothing, every known slip loses points and is named, and no mutant of a reference passes
unless its lesson says why it is right too.
"""

import argparse
import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import torch
from tqdm import tqdm

from autograder import lessons
from autograder.checks.question import Lesson
from autograder.proof.first_look import first_look
from autograder.proof.report import COUNTS, Report
from autograder.proof.trials import items, try_item

SEEDS = 5


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m autograder verify", description=__doc__)
    parser.add_argument("lesson", nargs="*", help="default: every lesson that has checks")
    parser.add_argument("--json", action="store_true", help="print the totals as JSON")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many grading seeds to try")
    options = parser.parse_args(argv)
    known = lessons.names()
    for name in options.lesson:
        if name not in known:
            print(f"autograder: there is no lesson {name!r}. {lessons.nearest(name, known)}")
            return 2
    out = sys.stderr if options.json else sys.stdout
    asked = options.lesson or known
    if dead := [text for name in asked for text in first_look(lessons.load(name))]:
        for text in dead:
            print(f"falls short: {text}", file=out)
        print("Nothing more was tried: cure this first.", file=out)
        return 1
    reports = verify_all(asked, options.seeds)
    if options.json:
        totals = {c: sum(r.total(c) for r in reports) for c in COUNTS}
        print(json.dumps({"lessons": len(reports), **totals}))
    else:
        print("\n\n".join(report.table() for report in reports))
    found = [text for report in reports for text in report.shortfalls]
    for text in found:
        print(f"falls short: {text}", file=out)
    return 1 if found else 0


def verify_all(names: list[str], n_seeds: int) -> list[Report]:
    """Try the lessons, as many questions at a time as there are cores."""
    asked = [(name, item) for name in names for item in items(lessons.load(name))]
    reports = {name: Report(name) for name in names}
    workers = min(len(asked), len(os.sched_getaffinity(0)))
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(workers, mp_context=context) as pool,
        tqdm(total=len(asked), unit="question", disable=not sys.stderr.isatty()) as bar,
    ):
        waiting = [pool.submit(_try_named, name, item, n_seeds) for name, item in asked]
        for (name, item), done in zip(asked, waiting, strict=True):
            reports[name].add(done.result())
            bar.set_description(f"{name}.{item}")
            bar.update()
    return list(reports.values())


def verify(lesson: Lesson, n_seeds: int = SEEDS) -> Report:
    """Try everything on one lesson."""
    report = Report(lesson.name)
    for item in items(lesson):
        report.add(try_item(lesson, item, n_seeds))
    return report


def _try_named(name: str, item: str, n_seeds: int) -> Report:
    torch.set_num_threads(1)
    return try_item(lessons.load(name), item, n_seeds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
