"""Measure what the course promises, and write the figures to _build/bench.json: `make bench`."""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch

from autograder.lessons import load, names
from autograder.marking import mark
from autograder.release import reference_conclusion
from autograder.slips import patched
from tests import bench_grading

ROOT = Path(__file__).resolve().parents[1]


def check_seconds() -> dict[str, float]:
    """Time the visible check of every question: a right answer, and its slowest slip."""
    seconds = {}
    for name in names():
        lesson = load(name)
        for question in lesson.questions:
            answers = list(answers_to(lesson, question))
            for own in answers:  # once to fill the caches, as the second run of a cell would
                mark(lesson, question.name, own)
            spent = [timed(mark, lesson, question.name, own) for own in answers]
            seconds[f"{name}.{question.name}"] = max(spent)
    return seconds


def answers_to(lesson, question):
    if question in lesson.exercises:
        yield dict(vars(question.module))
        for slip in question.slips:
            yield dict(patched(slip))
    elif hasattr(question, "right"):
        yield {question.name: question.right}
    else:
        measured = {m.__name__: m for m in question.measures}
        yield {**measured, question.name: reference_conclusion(question)}


def timed(function, *arguments) -> float:
    """Return CPU seconds: other people's work on this machine does not count."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=40, help="how many are graded (40)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seconds = check_seconds()
    for name, spent in seconds.items():
        print(f"{spent:7.3f} CPU s  check {name} (the slowest of the right answer and the slips)")
    figures = {
        "check.seconds_worst": max(seconds.values()),
        "check.seconds_median": statistics.median(seconds.values()),
    }
    grading = bench_grading.measure(options.submissions)
    bench_grading.report(grading)
    figures |= grading
    path = ROOT / "_build" / "bench.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
