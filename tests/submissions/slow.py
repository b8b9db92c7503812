"""Submissions that are slow, deep or large for whoever reads, mends and draws them."""

from . import cell, code, place
from .case import CRASHED, UNREADABLE, Case, instead, own, softmax

N = 3_000
COLLIDING = f"return {{(2**61 - 1) * i: 0 for i in range({N})}}"
PATCH = "import autograder.seam.wire as wire\nwire._is_key = lambda *_: True\n"
MANY = "import autograder.seam.wire as wire\nwire.MAX_KEYS = 1 << 40\n"
SUM = "x = " + "+".join(["1"] * 30_000)
NOT = "x = " + "not " * 30_000 + "1"
LAMBDA = "x = " + "lambda: " * 30_000 + "1"
ELIF = "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 3_000
BLANK = "\n" * 40_000 + "x = 1"
COVER = '<a class="modal-backdrop" href="https://example.org">x</a>\n\nbecause'
ODD = "![p](attachment:p)"
TAG = '<img src="https://example.org/p.png"> because'
WRITTEN = "why_subtract"


def written(text: str, **more):
    """Answer the question that a human marks."""

    def make(work: dict) -> dict:
        cell(work, WRITTEN).update(source=text, **more)
        return work

    return make


def beside_written(*cells: dict):
    """Leave that answer empty, and put cells after it."""

    def make(work: dict) -> dict:
        cell(work, WRITTEN)["source"] = ""
        at = place(work, WRITTEN) + 1
        work["cells"][at:at] = [dict(c) for c in cells]
        return work

    return make


def empty(count: int):
    def make(work: dict) -> dict:
        work["cells"] += [dict(code(""), cell_type="markdown") for _ in range(count)]
        return work

    return make


CASES = [
    Case("alike_keys", "answers with 3,000 keys of one hash", softmax(COLLIDING), 60),
    Case(
        "alike_keys_sent",
        "sends them after all",
        softmax(COLLIDING, PATCH),
        60,
    ),
    Case(
        "many_keys",
        "sends 100,000 keys",
        softmax("return {i: 0 for i in range(100_000)}", MANY),
        60,
    ),
    Case("deep_sum", "adds 30,000 numbers in one line", own(SUM), status=CRASHED),
    Case("deep_not", "says not 30,000 times", own(NOT)),
    Case("deep_lambda", "nests 30,000 lambdas", own(LAMBDA)),
    Case("deep_elif", "has 3,000 branches", own(ELIF), status=CRASHED),
    Case("deep_sum_answer", "adds 30,000 numbers in an answer", instead(softmax=SUM), 60, CRASHED),
]

FILES = [
    Case("blank_lines", "has 40,000 blank lines beside a text", beside_written(code(BLANK))),
    Case("deep_html", "nests 8,000 tags", written("<div>" * 8000 + "because")),
    Case("deep_quotes", "nests 8,000 quotations", written(">" * 8000 + " because")),
    Case("deep_list", "nests 300 lists", written("".join(" " * i + "- x\n" for i in range(300)))),
    Case("open_brackets", "opens 40,000 brackets", written("[" * 40_000)),
    Case("open_formulas", "opens 5,000 formulas", written("\\begin{a}" * 5000)),
    Case("long_text", "writes two million letters", written("because *x* " * 170_000)),
    Case("many_cells", "has 40,000 cells", empty(40_000), None, UNREADABLE),
    Case("thousands_of_cells", "has 4,000 cells", empty(4000)),
    Case("deep_sum_file", "adds 30,000 numbers in one line", own(SUM), status=CRASHED),
    Case("lost_picture", "copied a cell without its picture", written("![p](attachment:p.png)")),
    Case(
        "odd_picture",
        "has a picture of no kind",
        written(ODD, attachments={"p": {}}),
    ),
    Case("cover", "covers the page with a link", written(COVER)),
    Case("remote_picture", "loads a picture", written("![p](https://example.org/p.png) because")),
    Case("remote_tag", "loads it by a tag", written(TAG)),
    Case("formula", "writes formulas", written("$\\frac{a}{b}$ and $$\\href{javascript:x}{y}$$")),
]
