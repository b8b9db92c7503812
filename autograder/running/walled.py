"""Run one submission behind the wall and mark its questions; no database, no file of the course.

The result is the outputs of every cell, ready to be put into the notebook: what the learner's
cells showed, and for each check the card and the points, which are made on this side.
"""

import json
import re
import symtable
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from autograder.checks.card import Card
from autograder.checks.cells import check_of, is_check, is_demonstration
from autograder.checks.check import scaled
from autograder.checks.marking import mark
from autograder.checks.question import Conclusion
from autograder.lessons import load
from autograder.wall.session import CRASHED, Session
from autograder.wall.wall import Wall, WallError

SHOWN = ("text/plain", "image/png", "image/jpeg")  # no script or markup of a learner's
COMMANDS = re.compile(r"\x1b(?!\[[\d;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
PICTURE = re.compile(r"[A-Za-z0-9+/=\s]*")  # base64, and nothing that would end an attribute
MAX_SHOWN, MAX_CARD = 10_000_000, 1_000_000  # characters of a cell's outputs, of a card
SKIPPED = "A demonstration; not run when grading."
UNMARKED = "The answer could not be marked: what the code gave is not of the kind asked for."


@dataclass(frozen=True)
class Settings:
    """What a run depends on besides the notebook and the lesson."""

    seed: str
    timeout: float = 30.0
    total: float = 300.0
    skip: bool = True  # leave demonstration cells out


@dataclass
class Ran:
    """What came of a submission: outputs by the cell's place, and which cells ended badly."""

    outputs: dict[str, list[dict]] = field(default_factory=dict)
    deaths: dict[str, str] = field(default_factory=dict)  # cell id -> how


def run(cells: list[NotebookNode], wall: Wall, settings: Settings) -> Ran:
    """Run the code cells of a repaired notebook and mark its checks."""
    session = Session(wall, settings.timeout, settings.total)
    skipped = skippable(cells, wall.lesson) if settings.skip else set()
    ran = Ran()
    try:
        for number, cell in enumerate(cells):
            if cell.cell_type != "code":
                continue
            if number in skipped:
                shown = [stream(SKIPPED)]
            elif is_check(cell):
                shown = checked(cell, session, wall.lesson, settings.seed)
            else:
                raw = session.cell(cell.id, cell.source)
                shown = bounded([o for output in raw if (o := harmless(output))])
            ran.outputs[str(number)] = shown
            if session.death:
                ran.deaths[cell.id], session.death = session.death, ""
    finally:
        session.close()
    return ran


def checked(cell: NotebookNode, session: Session, lesson: str, seed: str) -> list[dict]:
    """Mark the question of a check cell; show the card, and the points as its result."""
    asked = check_of(cell.source)
    if asked is None or asked.lesson != lesson:
        return [stream("This check was not understood."), result(0.0)]
    session.question()
    try:
        marked = mark(load(lesson), asked.question, session, seed)
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


def result(points: float) -> dict:
    data = {"text/plain": repr(points)}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def stream(text: str) -> dict:
    return {"output_type": "stream", "name": "stdout", "text": text}


def harmless(output: dict[str, Any]) -> dict | None:
    """Keep text and pictures of a learner's output, and nothing that a page could run."""
    kind = output.get("output_type")
    if kind == "stream":
        return stream(text_of(output.get("text", ""))) if output.get("name") == "stdout" else None
    if kind in ("display_data", "execute_result"):
        data = output.get("data") if type(output.get("data")) is dict else {}
        kept = {k: text_of(v) for k, v in data.items() if k in SHOWN and type(v) is str}
        kept = {k: v for k, v in kept.items() if k == "text/plain" or PICTURE.fullmatch(v)}
        return {"output_type": "display_data", "data": kept, "metadata": {}} if kept else None
    if kind == "error":
        lines = output.get("traceback") if type(output.get("traceback")) is list else []
        return {
            "output_type": "error",
            "ename": text_of(output.get("ename"))[:200],
            "evalue": text_of(output.get("evalue"))[:2000],
            "traceback": [text_of(line)[:20_000] for line in lines[:100]],
        }
    return None


def text_of(value: Any) -> str:
    """Return text that any file and terminal can show: whole characters, no command but colours."""
    return COMMANDS.sub("", str(value).encode("utf-8", "replace").decode())


def bounded(outputs: list[dict]) -> list[dict]:
    """Cut outputs off at a size; the bounds on the learner's side can be patched away there."""
    kept, room = [], MAX_SHOWN
    for output in outputs:
        room -= len(json.dumps(output))
        if room < 0:
            return [*kept, stream("... the rest of the output was cut off ...")]
        kept.append(output)
    return kept


def written(data: dict[str, Any]) -> dict[str, Any]:
    """Make a bundle of texts and plain values one that any file can hold."""
    return {
        kind: text_of(v)
        if isinstance(v, str)
        else json.loads(text_of(json.dumps(v, ensure_ascii=False)))
        for kind, v in data.items()
    }


def skippable(cells: list[NotebookNode], lesson: str) -> set[int]:
    """Return the demonstration cells whose names no other cell and no probe reads."""
    code = {i: c for i, c in enumerate(cells) if c.cell_type == "code" and not is_check(c)}
    shows = {i for i, c in code.items() if is_demonstration(c)}
    needed = set(load(lesson).names)
    for question in load(lesson).questions:
        if isinstance(question, Conclusion):
            needed |= {m.__name__ for m in question.measures}
    for i in code.keys() - shows:
        needed |= names_read(code[i].source)
    while True:  # a demonstration that must run may need another
        kept = {i for i in shows if names_bound(code[i].source) & needed}
        if not kept:
            return shows
        shows -= kept
        for i in kept:
            needed |= names_read(code[i].source)


def names_read(source: str) -> set[str]:
    """Return the global names a cell reads; every word of it where it is not plain Python."""
    try:
        tables = [symtable.symtable(source, "cell", "exec")]
    except (SyntaxError, ValueError):
        return set(re.findall(r"\w+", source))
    read = set()
    for table in tables:  # grows while it is walked: a table's children are its functions, classes
        tables += table.get_children()
        inner = table.get_type() != "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or not inner):
                read.add(symbol.get_name())
    if read & {"globals", "locals", "vars", "eval", "exec", "get_ipython"}:
        read |= set(re.findall(r"\w+", source))  # names may hide in strings
    return read


def names_bound(source: str) -> set[str]:
    """Return the names a demonstration binds; it is ours, so it parses."""
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
