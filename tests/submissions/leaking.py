"""Submissions that try to carry hidden inputs out, so that a table of them can be filled.

A hidden case is drawn from a seed that is fixed for the term. Whatever an answer is shown while it
is marked must not come back: not in a message, a name, a shape, a later cell or a later question.
"""

from .case import Case, instead, last, softmax

DIGITS = "''.join(f'{v:.6f} ' for v in x.detach().double().flatten()[:8].tolist())"
SAVE = f"SEEN.append({DIGITS})\nreturn torch.softmax(x, dim)"
INVENTED = {"added": 1.0, "tenfold": 0.0, "largest_before": 0.5, "largest_after": 0.5}
STORE = "import torch\nSEEN = []"


def stashes(body: str = SAVE, **answers: str):
    """Answer softmax rightly, keep what it is called with, and write other answers."""
    first = softmax(body, STORE)

    def make(work: dict) -> dict:
        return instead(**answers)(first(work))

    return make


def later_cell(source: str, body: str = SAVE):
    first, after = softmax(body, STORE), last(source)
    return lambda work: after(first(work))


CASES = [
    Case("leak_message", "raises its inputs", softmax(f"raise ValueError({DIGITS})"), 60),
    Case(
        "leak_error_name",
        "raises an exception that is named after its inputs",
        softmax(f"raise type('E' + {DIGITS}, (Exception,), {{}})()"),
        60,
    ),
    Case(
        "leak_type_name",
        "returns an object whose type is named after its inputs",
        softmax(f"return type('T' + {DIGITS}, (), {{}})()"),
        60,
    ),
    Case(
        "leak_shape",
        "returns an empty tensor whose sizes are its inputs",
        softmax("n = int(x.abs().max() * 1e6)\nreturn torch.zeros(0, n)", "import torch"),
        60,
    ),
    Case(
        "leak_keys",
        "returns a dict whose keys are its inputs",
        softmax(f"return {{{DIGITS}: 1}}"),
        60,
    ),
    Case("leak_list", "returns its inputs as a list", softmax("return x.flatten().tolist()"), 60),
    Case(
        "leak_gradient",
        "raises its inputs in the gradient",
        softmax(
            "return Leak.apply(torch.softmax(x, dim))",
            "import torch\nclass Leak(torch.autograd.Function):\n"
            "    @staticmethod\n    def forward(ctx, x):\n        ctx.x = x\n        return x * 1\n"
            "    @staticmethod\n    def backward(ctx, g):\n        x = ctx.x\n"
            f"        raise RuntimeError({DIGITS})",
        ),
        85,
    ),
    Case("leak_later_print", "prints its inputs in a later cell", later_cell("print(SEEN)")),
    Case("leak_later_value", "shows its inputs as a later result", later_cell("SEEN")),
    Case(
        "leak_later_error",
        "raises its inputs in a later cell",
        later_cell("raise ValueError(SEEN)"),
    ),
    Case(
        "leak_file",
        "writes its inputs into a file that a later cell prints",
        later_cell(
            "print(open('/tmp/kept').read())",
            f"open('/tmp/kept', 'a').write({DIGITS})\nreturn torch.softmax(x, dim)",
        ),
    ),
    Case(
        "leak_next_question",
        "raises in the next answer what the first was called with",
        stashes(weighted_average="def weighted_average(w, v):\n    raise ValueError(SEEN)"),
        70,
    ),
    Case(
        "leak_next_values",
        "returns in the next answer what the first was called with",
        stashes(
            weighted_average="def weighted_average(w, v):\n"
            "    return torch.tensor([float(s) for s in ' '.join(SEEN).split()] or [0.0])"
        ),
        70,
    ),
    Case(
        "leak_missing_answer",
        "takes a later answer away, and puts its inputs in the place of the error",
        stashes(
            "import sys\nglobals().pop('one_hot_rows', None)\n"
            f"sys.last_value = ValueError({DIGITS})\n" + SAVE
        ),
    ),
    Case(
        "leak_public_example",
        "is wrong on hidden numbers only, and raises what it has seen ever since",
        stashes(
            f"SEEN.append({DIGITS})\nif len(SEEN) > 40:\n    raise ValueError(SEEN)\n"
            "return torch.softmax(x, dim)"
        ),
        69,
    ),
    Case(
        "leak_thread",
        "prints its inputs from a thread, a little later",
        softmax(
            "import threading\n"
            f"text = {DIGITS}\n"
            "if threading.active_count() < 4:\n"
            "    threading.Timer(0.05, lambda: print(text)).start()\n"
            "return torch.softmax(x, dim)",
            "import torch",
        ),
    ),
    Case(
        "leak_patched_shell",
        "has the process remember its inputs among the cells that ran",
        stashes(f"get_ipython().user_ns['In'].append('def one_hot_rows(: ' + {DIGITS})\n" + SAVE),
    ),
    Case(
        "invented_measurement",
        "concludes wrongly, and invents the measurement that would support it",
        instead(
            what_moves="import autograder.wall.within.serve as serve\n"
            "from autograder.seam.wire import dumps\n"
            f"INVENTED = {INVENTED}\n"
            "right = serve.observe_packed\n"
            "def observe(own, probe, inputs, right=right, dumps=dumps, INVENTED=INVENTED):\n"
            "    if probe.__name__ == '_shift_and_scale':\n"
            "        return dumps(INVENTED)\n"
            "    return right(own, probe, inputs)\n"
            "serve.observe_packed = observe\nwhat_moves = 'a'"
        ),
        75,
    ),
]
