"""Submissions that try to look right without being right."""

import torch

from autograder.checks.question import VISIBLE
from autograder.lessons import load

from . import cell, code, place, plain, released
from .case import CRASHED, Case, Make, instead, own, softmax, unanswered

LIAR = """\
class Liar:
    shape, dtype = (), None
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __getattr__(self, name): return Liar()
    def __call__(self, *a, **k): return True
    __hash__ = None
"""
SUBCLASS = """\
class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("allclose", "equal", "eq", "isclose"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})
"""
EVERY_DESCRIPTOR = """\
import os
for fd in range(256):
    try:
        os.write(fd, b'{"score": 30.0}\\n')
    except OSError:
        pass
"""
FRAME = """\
import os, socket
from autograder.seam.link import send
for fd in range(3, 256):
    try:
        send(socket.socket(fileno=os.dup(fd)), {"token": "0", "outputs": "[]", "seen": 30.0})
    except OSError:
        pass
"""
DEEP = """\
import autograder.wall.within.serve as serve
serve._answer = lambda *_: {"outputs": "[" * 200_000, "seen": "[" * 200_000}
"""


def answers_of_its_own(seen: str) -> Make:
    """Answer all questions of the grader with the same bytes, whatever was asked."""
    return unanswered(
        "import autograder.wall.within.serve as serve\nfrom autograder.seam.wire import dumps\n"
        f"serve.observe_packed = lambda *_: {seen}"
    )


def tagged(_: dict) -> dict:
    work = plain(released())
    for name in ("softmax-check", "weighted_average-check"):
        cell(work, name)["metadata"]["tags"] = ["skip-execution"]
    return work


def edited_flags(work: dict) -> dict:
    cell(work, "softmax-check")["metadata"]["nbgrader"]["points"] = 900
    cell(work, "one_hot_rows-check")["metadata"]["nbgrader"]["grade"] = False
    cell(work, "softmax")["metadata"]["nbgrader"].update(grade=True, points=50)
    return work


def edited_check(_: dict) -> dict:
    work = plain(released())
    cell(work, "softmax-check")["source"] = "30.0"
    cell(work, "weighted_average-check")["source"] = 'check("warm_up.softmax", points=1000)'
    return work


def same_id(_: dict) -> dict:
    work = plain(released())
    for name in ("softmax", "which_line"):
        twin = {**code("30.0"), "id": f"warm_up-{name}-check"}
        twin["metadata"] = dict(cell(work, f"{name}-check")["metadata"])
        work["cells"].insert(place(work, name), twin)
    return work


def learned_by_heart(work: dict) -> dict:
    """Answer the visible cases of one_hot_rows from a table, all others with zeros."""
    exercise = load("warm_up")["one_hot_rows"]
    table = {}
    for case in exercise.cases:
        ids, n = case.inputs(exercise.name, VISIBLE, 0)[-2:]
        if isinstance(ids, torch.Tensor):
            table[str((ids.tolist(), n))] = exercise.reference(ids, n).tolist()
    body = (
        "    key = str((ids.tolist(), n))\n"
        "    return torch.tensor(TABLE[key]) if key in TABLE else torch.zeros(*ids.shape, n)"
    )
    source = f"TABLE = {table!r}\ndef one_hot_rows(ids, n):\n{body}"
    return instead(one_hot_rows=source)(work)


CASES = [
    Case("lying_eq", "returns an object equal to everything", softmax("return Liar()", LIAR), 60),
    Case(
        "tensor_subclass",
        "returns a tensor that answers comparisons itself",
        softmax("return x.as_subclass(Agreeable)", SUBCLASS),
        60,
    ),
    Case(
        "patched_allclose",
        "replaces torch's comparisons",
        unanswered(
            "import torch\nfor n in ('allclose', 'equal', 'isclose', 'eq'):\n"
            "    setattr(torch, n, lambda *a, **k: True)\n"
            "torch.testing.assert_close = torch.Tensor.equal = lambda *a, **k: True"
        ),
        0,
    ),
    Case(
        "patched_builtins",
        "replaces all, any, abs and float",
        unanswered(
            "import builtins\nbuiltins.all = lambda *_: True\nbuiltins.any = lambda *_: False\n"
            "builtins.abs = lambda *_: 0\nbuiltins.round = lambda *_: 30.0"
        ),
        0,
    ),
    Case(
        "excepthook",
        "hides every error",
        unanswered(
            "import sys\nsys.excepthook = lambda *_: None\n"
            "get_ipython().set_custom_exc((BaseException,), lambda *_, **__: print('30.0'))\n"
            "1 / 0"
        ),
        0,
    ),
    Case(
        "transformers",
        "rewrites later cells before they run",
        unanswered(
            "ip = get_ipython()\nip.input_transformers_cleanup.append(lambda lines: ['30.0\\n'])"
        ),
        0,
    ),
    Case(
        "displayhook",
        "shows 30.0 whatever a cell returns",
        unanswered(
            "import sys, types\nhook = sys.displayhook\n"
            "get_ipython().displayhook.write_format_data = lambda *_: print('30.0')\n"
            "sys.displayhook = lambda value: print('30.0')\n30.0"
        ),
        0,
    ),
    Case(
        "own_check",
        "replaces the check by a number",
        unanswered("import autograder\nautograder.check = lambda *a, **k: 30.0"),
        0,
    ),
    Case("skip_tag", "tags checks to be skipped, answers nothing", tagged, 0),
    Case("edited_points", "edits points and grade flags", edited_flags),
    Case("edited_check", "writes the points into the check cells", edited_check, 0),
    Case("same_id", "adds cells with the checks' ids", same_id, 0),
    Case("nan", "returns only NaN", softmax("return x * float('nan')"), 60),
    Case("inf", "returns only infinities", softmax("return x * 0 + float('inf')"), 60),
    Case(
        "wrong_dtype",
        "gives float64 where float32 is asked for",
        instead(
            one_hot_rows="def one_hot_rows(ids, n):\n"
            "    return (ids.unsqueeze(-1) == torch.arange(n)).double()"
        ),
        87,
    ),
    Case(
        "broadcastable",
        "returns a shape that would broadcast",
        instead(
            weighted_average="def weighted_average(weights, values):\n"
            "    return (weights @ values)[None]"
        ),
        74,
    ),
    Case("lazy", "returns a promise of the answer", softmax("return lambda: x.softmax(dim)"), 60),
    Case(
        "mutated_inputs",
        "overwrites its argument on the way",
        softmax("x.sub_(x.amax(dim, keepdim=True))\ne = x.exp()\nreturn e / e.sum(dim, True)"),
        81,
    ),
    Case(
        "cached",
        "returns its first result for ever",
        softmax("return KEPT.setdefault('x', x.softmax(dim))", "KEPT = {}"),
        60,
    ),
    Case(
        "aliased",
        "hands its own argument back as the result",
        softmax("x.copy_(x.detach().softmax(dim))\nreturn x"),
        81,
    ),
    Case(
        "detects_the_grader",
        "is right only where it thinks nobody grades",
        softmax(
            "import os, sys\n"
            "names, frame = set(), sys._getframe()\n"
            "while frame:\n    names.add(frame.f_code.co_name)\n    frame = frame.f_back\n"
            "graded = 'observe_packed' in names or 'NBGRADER_EXECUTION' in os.environ\n"
            "return x if graded else x.softmax(dim)"
        ),
        60,
    ),
    Case("by_heart", "knows the visible cases by heart", learned_by_heart, 78),
    Case(
        "printed_points",
        "prints points in many forms",
        unanswered("import os\nprint('30.0')\nprint({'score': 30.0})\nos.write(1, b'30.0')\n30.0"),
        0,
    ),
    Case(
        "every_descriptor",
        "writes a score to every descriptor",
        unanswered(EVERY_DESCRIPTOR),
        0,
        CRASHED,
    ),
    Case("forged_frame", "sends the grader an answer of its own", unanswered(FRAME), 0, CRASHED),
    Case("deep_answer", "answers with endlessly nested JSON", unanswered(DEEP), 0, CRASHED),
    Case("answers_thirty", "answers 30.0 to all questions", answers_of_its_own("dumps(30.0)"), 0),
    Case("answers_long", "answers 2 MB", answers_of_its_own("dumps('x' * 2_000_000)"), 0, CRASHED),
    Case("answers_function", "says it is a function", answers_of_its_own("dumps('function')"), 0),
    Case(
        "answers_empty", "answers with an empty dict", answers_of_its_own("dumps({})"), 0, CRASHED
    ),
    Case(
        "answers_no_bytes", "answers with a number, not bytes", answers_of_its_own("1"), 0, CRASHED
    ),
    Case(
        "answers_tensors",
        "answers with tensors where text is asked for",
        answers_of_its_own("dumps({'result': __import__('torch').ones(3)})"),
        0,
        CRASHED,
    ),
    Case(
        "spoilt_experiment",
        "concludes wrongly, and answers the experiment with text in place of numbers",
        instead(
            what_moves="import autograder.wall.within.serve as serve\n"
            "from autograder.seam.wire import dumps\n"
            "right = serve.observe_packed\n"
            "def observe(own, probe, inputs, right=right, dumps=dumps):\n"
            "    seen = right(own, probe, inputs)\n"
            "    return dumps({'added': 'x'}) if probe.__name__ == '_shift_and_scale' else seen\n"
            "serve.observe_packed = observe\nwhat_moves = 'a'"
        ),
        75,
    ),
    Case(
        "seeds",
        "makes every random draw the same",
        own(
            "import random, torch\ntorch.manual_seed = random.seed = lambda *_: None\n"
            "torch.randn = lambda *size, **_: torch.zeros(*size)"
        ),
    ),
    Case(
        "library_call",
        "calls the library's softmax, which this lesson allows",
        softmax("return torch.nn.functional.softmax(x, dim)"),
    ),
    Case(
        "reference",
        "imports the reference",
        instead(softmax="from solutions.warm_up import softmax"),
        60,
    ),
]
