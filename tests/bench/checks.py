"""Time the visible check of every question: what a learner waits for below an answer."""

import statistics
import time

import torch

from autograder.checks.marking import mark
from autograder.checks.slips import patched
from autograder.lessons import load, names
from autograder.release.authored import reference_conclusion


def figures() -> dict[str, float | bool]:
    """Return the CPU seconds of the slowest check and of the median one."""
    torch.set_num_threads(1)
    seconds = check_seconds()
    for name, spent in seconds.items():
        print(f"{spent:7.3f} CPU s  check {name} (the slowest of the right answer and the slips)")
    return {
        "check.seconds_worst": max(seconds.values()),
        "check.seconds_median": statistics.median(seconds.values()),
    }


def check_seconds() -> dict[str, float]:
    """Time a right answer and every slip of each question; keep the slowest."""
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
