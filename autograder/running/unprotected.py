"""nbgrader's step that runs a notebook, replaced: take the result of a run behind the wall.

With --no-sandbox there is none, and the cells are run in a forked child of this warm process. The
learner's code is NOT walled off then: it has the rights of whoever grades. A cell that dies or
overruns its time is left out and the rest is run again, so it costs its own points only.
"""

import importlib
import io
import json
import os
import select
import signal
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.preprocessors
from nbformat import NotebookNode, from_dict
from traitlets import Dict, Integer, Unicode

from autograder.checks.cells import is_check, is_solution, question_of
from autograder.running import batch
from autograder.running.walled import harmless

TIMED_OUT, CRASHED = "CellTimedOut", "CellCrashed"
UNPROTECTED = "No sandbox: learners' code ran with your rights. Grade only what you trust."
MAX_MESSAGE = 20_000_000


@dataclass
class Death:
    """How a run ended early: in which cell, and why."""

    cell: int
    name: str  # TIMED_OUT or CRASHED
    text: str


@dataclass
class Outcome:
    """What the cells put out, and which of them were left out because they ended the run."""

    outputs: dict[int, list[dict]] = field(default_factory=dict)
    deaths: dict[int, Death] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)  # answers whose check never ended


class Execute(nbgrader.preprocessors.Execute):
    """nbgrader's step of the same name, with a fork in place of a kernel."""

    total = Integer(300, help="Seconds for one submission, all runs together.").tag(config=True)
    kept = Unicode("", help="The result of a run behind the wall; none: run here.").tag(config=True)
    deaths = Dict(help="How cells ended badly, by the cell's id.")

    def preprocess(
        self, nb: NotebookNode, resources: dict, km: Any = None
    ) -> tuple[NotebookNode, dict]:
        if self.kept:
            ran = batch.kept(Path(self.kept))
            self.deaths = ran.deaths
            made = {int(number): from_dict(outputs) for number, outputs in ran.outputs.items()}
        else:
            outcome = run(nb.cells, self.timeout or self.total, self.total)
            self.deaths = {nb.cells[i].id: death.name for i, death in outcome.deaths.items()}
            made = {i: _outputs(outcome, i, cell) for i, cell in enumerate(nb.cells)}
        for number, cell in enumerate(nb.cells):
            if cell.cell_type == "code" and number in made:
                cell.outputs = made[number]
            elif cell.cell_type == "code":  # a check without any output would earn full marks
                cell.outputs = [_error("NotRun", "This cell was not run.")]
        return nb, resources


def warm() -> None:
    """Import what notebooks import, once; one thread, or the children would hang."""
    import matplotlib
    import torch

    # inline: figures of a child; _dynamo: imported by the first optimiser, it takes a second
    for name in ("matplotlib_inline.backend_inline", "torch._dynamo", "autograder.seam.shell"):
        importlib.import_module(name)
    matplotlib.use("Agg")
    torch.set_num_threads(1)
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot(title="fonts")
    figure.savefig(io.BytesIO())  # finds and reads the fonts


def run(cells: list[NotebookNode], timeout: float, total: float) -> Outcome:
    """Run the code cells; after a death run them again without the cell that caused it."""
    outcome, end = Outcome(), time.monotonic() + total
    for _ in range(2 * len(cells) + 1):
        skip = {*outcome.deaths, *outcome.left_out}
        wanted = {
            i: c.source for i, c in enumerate(cells) if c.cell_type == "code" and i not in skip
        }
        outcome.outputs, death = _run_once(wanted, timeout, end)
        if death is None:
            break
        endless = _answers(cells, outcome.deaths) - outcome.left_out
        if endless and time.monotonic() < end:
            # this cell may only have met an earlier answer that never ends: try it without that
            outcome.left_out |= endless
        else:
            outcome.deaths[death.cell] = death
        if time.monotonic() >= end:
            break
    return outcome


def _answers(cells: list[NotebookNode], deaths: dict[int, Death]) -> set[int]:
    """Return the cells whose answers were being checked when a run ended."""
    names = {question_of(cells[i].id) for i in deaths if is_check(cells[i])}
    return {i for i, c in enumerate(cells) if is_solution(c) and question_of(c.id) in names}


def _run_once(
    wanted: dict[int, str], timeout: float, end: float
) -> tuple[dict[int, list], Death | None]:
    """Fork, run the cells there, read the outputs back until the child is done or dead."""
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _child(wanted, writing, folder)
        os.close(writing)
        try:
            with os.fdopen(reading, "rb", buffering=0) as pipe:
                return _listen(pipe, list(wanted), timeout, end)
        finally:
            _end(child)


def _child(wanted: dict[int, str], writing: int, folder: str) -> None:
    """Be the learner's process; never return."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        os.chdir(folder)
        from autograder.seam.shell import Shell

        shell = Shell.instance()
        with os.fdopen(writing, "wb") as pipe:
            for number, code in wanted.items():
                outputs = shell.record(code)
                pipe.write(_line({"cell": number, "outputs": outputs}))
                pipe.flush()
    finally:
        os._exit(0)


def _line(message: dict) -> bytes:
    text = json.dumps(message, default=repr, ensure_ascii=False, skipkeys=True)
    return text.encode("utf-8", "replace") + b"\n"


def _listen(
    pipe: Any, cells: list[int], timeout: float, end: float
) -> tuple[dict[int, list], Death | None]:
    """Collect one message per cell; say in which cell the child died or overran its time."""
    done: dict[int, list] = {}
    data = b""
    for cell in cells:
        deadline = min(time.monotonic() + timeout, end)
        while b"\n" not in data:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                text = f"The cell was stopped after {timeout:g} seconds."
                if deadline == end:
                    text = "The time for the whole notebook was used up here."
                return done, Death(cell, TIMED_OUT, text)
            piece = pipe.read(1 << 20)
            data += piece
            if not piece or len(data) > MAX_MESSAGE:
                return done, Death(cell, CRASHED, "The cell ended the Python process.")
        line, _, data = data.partition(b"\n")
        try:
            done[cell] = list(json.loads(line)["outputs"])
        except (ValueError, KeyError, TypeError):
            return done, Death(cell, CRASHED, "The cell's output could not be read.")
    return done, None


def _end(child: int) -> None:
    """End the child and what it started."""
    for stop in (os.killpg, os.kill):  # before setsid there is no group of its own yet
        try:
            stop(child, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
    os.waitpid(child, 0)


def _outputs(outcome: Outcome, number: int, cell: NotebookNode) -> list[NotebookNode]:
    """Return a cell's outputs as the notebook holds them; a check must show a score."""
    if number in outcome.deaths:
        death = outcome.deaths[number]
        return [_error(death.name, death.text)]
    if number in outcome.left_out:
        return [_error("NotRun", "Left out, because checking this answer did not end.")]
    if number not in outcome.outputs:
        return [_error("NotRun", "The time was used up before this cell.")]
    given = outcome.outputs[number]
    if not is_check(cell):
        given = [shown for raw in given if type(raw) is dict and (shown := harmless(raw))]
    made = [output for raw in given if (output := _output(raw)) is not None]
    if not is_check(cell):
        return made
    made = [o for o in made if o.get("name") != "stderr"]  # nbgrader reads stderr as zero points
    if not any(o.output_type == "error" for o in made) and not _has_score(made, cell):
        made.insert(0, _error("NoScore", "This check gave no score."))
    return made


def _has_score(outputs: list[NotebookNode], cell: NotebookNode) -> bool:
    """Say whether the first result is a plain number of points; nbgrader is easier to please."""
    results = [o.data.get("text/plain") for o in outputs if o.output_type == "execute_result"]
    try:
        return 0 <= float(results[0]) <= cell.metadata.nbgrader.points
    except (IndexError, TypeError, ValueError):
        return False


def _output(raw: Any) -> NotebookNode | None:
    try:
        made = nbformat.from_dict(raw)
        nbformat.v4.nbbase.validate(made, raw["output_type"])
        return made
    except (nbformat.ValidationError, KeyError, TypeError, AttributeError):
        return None


def _error(name: str, text: str) -> NotebookNode:
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])
