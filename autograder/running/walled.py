"""Run one submission behind the wall and mark its questions; no database, no file of the course.

The result is the outputs of every cell, ready to be put into the notebook: what the learner's
cells showed, and for each check the card and the points, which are made on this side.
"""

import hashlib
import json

from nbformat import NotebookNode

from autograder.checks.card import Card
from autograder.checks.cells import check_of, is_check
from autograder.checks.check import scaled
from autograder.checks.marking import look, mark
from autograder.errors import WallError
from autograder.lessons import load
from autograder.running.demonstrations import skippable
from autograder.running.in_time import TooMuchWork, working_for
from autograder.running.outputs import Room, harmless, result, stream, written
from autograder.running.runner import Ran, Settings
from autograder.wall.session import CRASHED, TIMED_OUT, Session
from autograder.wall.wall import Door

SKIPPED = "A demonstration; not run when grading."
TOO_LONG = "Reading what the code put out took too long; this was not marked."
WORK = 120.0  # seconds of work for this side, beside what is waited for
MAX_CARD = 1_000_000  # characters of a card
UNMARKED = "The answer could not be marked: what the code gave is not of the kind asked for."


def run(cells: list[NotebookNode], wall: Door, settings: Settings) -> Ran:
    """Run the code cells of a repaired notebook and mark its checks."""
    session = Session(wall, settings.timeout, settings.total)
    skipped = skippable(cells, wall.lesson) if settings.skip else set()
    code = {str(number): cell for number, cell in enumerate(cells) if cell.cell_type == "code"}
    checks = {number: cell for number, cell in code.items() if is_check(cell)}
    public = hashlib.sha256("\0".join(c.source for c in code.values()).encode()).hexdigest()
    ran, room = Ran(), Room()

    def note_death(cell: NotebookNode) -> None:
        if session.death:
            ran.deaths[cell.id], session.death = session.death, ""

    def note(number: str, shown: list[dict]) -> None:
        ran.outputs[number] = shown
        note_death(code[number])

    def through() -> None:
        for number, cell in code.items():
            if number in checks:
                session.remember(cell.id)
            elif int(number) in skipped:
                note(number, [stream(SKIPPED)])
            else:
                raw = session.cell(cell.id, cell.source)
                note(number, room.bounded([o for output in raw if (o := harmless(output))]))
        session.begin_marking()
        for cell in checks.values():  # all that is public first
            session.return_to(cell.id)
            looked_at(cell, session, wall.lesson)
            note_death(cell)
        for number, cell in checks.items():
            session.return_to(cell.id)
            note(number, checked(cell, session, wall.lesson, settings.seed, public))

    try:
        with working_for(WORK):
            through()
    except TooMuchWork:
        for number, cell in code.items():
            if number not in ran.outputs:
                ran.outputs[number] = [stream(TOO_LONG), *([result(0.0)] * (number in checks))]
                ran.deaths[cell.id] = TIMED_OUT
    finally:
        session.close()
    return ran


def looked_at(cell: NotebookNode, session: Session, lesson: str) -> None:
    asked = check_of(cell.source)
    if asked is not None and asked.lesson == lesson and asked.question in load(lesson).names:
        look(load(lesson), asked.question, session)


def checked(
    cell: NotebookNode, session: Session, lesson: str, seed: str, public: str = ""
) -> list[dict]:
    """Mark the question of a check cell; show the card, and the points as its result."""
    asked = check_of(cell.source)
    if asked is None or asked.lesson != lesson:
        return [stream("This check was not understood."), result(0.0)]
    try:
        marked = mark(load(lesson), asked.question, session, seed, public)
        card = written(Card(marked, graded=True)._repr_mimebundle_())  # may quote the learner
        if len(json.dumps(card)) > MAX_CARD:
            raise ValueError("a card that quotes far too much")
    except WallError:
        raise
    except Exception:  # answers come from a process that may say anything: no batch stops for it
        session.death = CRASHED
        return [stream(UNMARKED), result(0.0)]
    shown = {"output_type": "display_data", "data": card, "metadata": {}}
    return [shown, result(scaled(marked, asked.points))]
