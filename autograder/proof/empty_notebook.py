"""Run a notebook for real, in this process: the released one must earn nothing."""

import ast
import contextlib
import io
import os
import warnings
from typing import Any

from autograder.checks.cells import is_check, question_of
from autograder.checks.check import SEED


def notebook_scores(notebook: Any) -> dict[str, Any]:
    """Run a notebook's code cells as `nbgrader autograde` does; return what each check returned."""
    import matplotlib
    from IPython.core.inputtransformer2 import TransformerManager

    matplotlib.use("agg")
    plain, own, earned = TransformerManager().transform_cell, {"__name__": "__main__"}, {}
    with _graded_in_process():
        for cell in (c for c in notebook.cells if c.cell_type == "code"):
            returned = None
            with contextlib.suppress(Exception):  # an empty body raises NotImplementedError
                *lines, last = ast.parse(plain(cell.source)).body
                is_value = isinstance(last, ast.Expr)
                body = ast.Module(lines if is_value else [*lines, last], [])
                exec(compile(body, cell.id, "exec"), own)
                if isinstance(last, ast.Expr):
                    returned = eval(compile(ast.Expression(last.value), cell.id, "eval"), own)
            if is_check(cell):
                earned[question_of(cell.metadata.nbgrader.grade_id)] = returned
    return earned


@contextlib.contextmanager
def _graded_in_process():
    before = {name: os.environ.get(name) for name in ("NBGRADER_EXECUTION", SEED)}
    os.environ |= {"NBGRADER_EXECUTION": "autograde", SEED: "verify"}
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
