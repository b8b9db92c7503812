"""Pieces of a book page that are made from a lesson: its practice notebook, its common slips."""

import html

from autograder.checks.exercise_file import written_answers
from autograder.checks.markup import marked
from autograder.checks.question import Exercise
from autograder.lessons import load
from autograder.release.gpu_runtime import runtime_words
from autograder.repository import colab


class Html:
    """A piece of a page."""

    def __init__(self, text: str):
        self.text = text

    def _repr_html_(self) -> str:
        return self.text


def practice(lesson: str) -> Html:
    """Link to the lesson's notebook, on Colab and in the repository."""
    questions = load(lesson).questions
    points = sum(q.points for q in questions)
    checked, written = len(questions), len(written_answers(lesson))
    words = f" and {_counted(written, 'written answer')}" if written else ""
    return Html(
        '<p class="course-practice"><strong>Practice.</strong> '
        f"{_counted(checked, 'checked exercise').capitalize()} worth {points} points{words}: "
        f'<a href="{colab(f"exercises/{lesson}.ipynb")}">open the notebook in Colab</a>, or open '
        f"<code>exercises/{lesson}.ipynb</code> in Jupyter.{runtime_words(lesson)}</p>"
    )


def _counted(n: int, thing: str) -> str:
    return f"one {thing}" if n == 1 else f"{n} {thing}s"


def common_slips(lesson: str) -> Html:
    """List the known mistakes of a lesson, each with the line that makes it."""
    parts = "".join(_exercise_html(exercise) for exercise in load(lesson).exercises)
    return Html(f'<div class="course-slips">{parts}</div>')


def _exercise_html(exercise: Exercise) -> str:
    items = "".join(
        f"<li><strong>{html.escape(slip.name)}.</strong> {marked(slip.text)}"
        f"<details><summary>the line</summary><pre>{_diff(slip.old, slip.new)}</pre></details></li>"
        for slip in exercise.slips
    )
    title = f"<code>{exercise.name}</code>: {_counted(len(exercise.slips), 'known slip')}"
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>"


def _diff(old: str, new: str) -> str:
    lines = [f"- {line.strip()}" for line in old.split("\n")]
    lines += [f"+ {line.strip()}" for line in new.split("\n") if line.strip()]
    return html.escape("\n".join(lines))
