"""What learners hand in costs the trusted side at most in proportion to its size.

Steps are counted, not seconds: Python's own (function calls), and for searches and dicts, whose
steps are C's, the processor's time of ever longer inputs, which must not grow fourfold when they
double (a quadratic one does; the median of several rounds is held against 3).
"""

import ast
import json
import random
import re
import statistics
import sys
import time
from pathlib import Path

import pytest
from submissions import LESSON, code, honest, released

import autograder
from autograder.course import repair as repairing
from autograder.course.repair import repair
from autograder.report.written import rendered
from autograder.running.demonstrations import names_read, skippable
from autograder.running.outputs import MAX_NOTEBOOK, Room, harmless, stream
from autograder.seam.wire import MAX_KEYS, WireError, dumps, loads

RELEASED = released()
ROOMS = ("course", "running", "report", "seam", "checks")
PIECES = (
    *(" ", "\n", "\t", "a", "1", "_", "%", "!", "=", ":", "(", '"', "\\", "<", ">", "$", "[", "*"),
    *("\x1b[", "\x1b", "1;", "a ", "a\n", "\n ", 'check("', "def a", "a:", "{", "}", "-"),
    *("data:", "_1", "_1_"),
)
OURS = {r"\{[^}]*\}"}  # meets only the sentences of our own slips
LONG = 4000  # characters; doubled twice


def calls(work) -> int:
    """Count the calls that some work makes, of Python's functions and of C's."""
    count = 0

    def watch(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    repairing.defined.cache_clear()
    repairing._squeezed.cache_clear()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def some_notebook(dice: random.Random, size: int) -> dict:
    """Make a notebook of so many cells: copies of the answers, empty ones, text, half of Python."""
    work = honest()
    texts = [c["source"] for c in work["cells"]]
    texts += ["", "\n" * 50, "%time", "x = 1", "def softmax(x, dim):", "so it is", "<div>" * 9]
    cells = []
    for number in range(size):
        made = code(dice.choice(texts) + f"\n# {dice.choice(['', number])}")
        made["cell_type"] = dice.choice(["code", "markdown", "raw"])
        cells.append(made)
    work["cells"][3:3] = cells
    return work


@pytest.mark.parametrize("seed", range(6))
def test_mending_a_notebook_twice_as_long_takes_at_most_about_twice_the_calls(seed):
    sizes = (200, 400, 800)
    works = [some_notebook(random.Random(seed), size) for size in sizes]
    counts = [calls(lambda work=work: repair(work, RELEASED)) for work in works]
    assert counts[1] < 2.5 * counts[0] and counts[2] < 2.5 * counts[1]


@pytest.mark.parametrize("seed", range(3))
def test_so_does_finding_out_which_cells_to_run(seed):
    made = [
        repair(some_notebook(random.Random(seed), size), RELEASED)[0].cells for size in (100, 200)
    ]
    counts = [calls(lambda cells=cells: skippable(cells, LESSON)) for cells in made]
    assert counts[1] < 2.5 * counts[0]


def patterns() -> list[str]:
    """Return every regular expression that is written down where learners' text is met."""
    found = set()
    for path in (p for room in ROOMS for p in (Path(autograder.__path__[0]) / room).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if named and isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found.add(first.value)
    text = (Path(autograder.__path__[0]) / "course" / "repair.py").read_text(encoding="utf-8")
    found |= {m for m in re.findall(r'pattern = r"(.*)"', text)}
    return sorted(found - OURS)


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def grows(work, texts) -> float:
    """Return by how much the time grows when the input doubles twice, as a median per doubling."""
    rounds = []
    for _ in range(3):
        short, long = seconds(lambda: work(texts[0])), seconds(lambda: work(texts[2]))
        rounds.append((max(long, 1e-9) / max(short, 1e-9)) ** 0.5 if long > 0.02 else 1.0)
    return statistics.median(rounds)


def test_patterns_are_found():
    assert len(patterns()) >= 12


@pytest.mark.parametrize("pattern", patterns())
def test_no_search_in_a_learner_s_text_is_quadratic(pattern):
    searched = re.compile(pattern, re.MULTILINE)
    # names of files are held against a pattern as a whole, texts are searched
    search = searched.fullmatch if "(?P<file>" in pattern else searched.findall
    dice = random.Random(1)
    pumps = [*PIECES, *("".join(dice.sample(PIECES, 2)) for _ in range(40))]
    for pump in pumps:
        for first, last in (("", ""), ("", "\x00"), ("a", "~")):
            n = max(1, LONG // len(pump))
            texts = [first + pump * (n * k) + last for k in (1, 2, 4)]
            assert grows(search, texts) < 3, repr(pump)


def test_a_cell_of_blank_lines_is_no_trouble():
    texts = ["\n" * n + "x" for n in (20_000, 40_000, 80_000)]
    assert grows(repairing._is_text, texts) < 3


@pytest.mark.parametrize(
    "source",
    [
        *("x = " + "+".join(["1"] * 30_000), "x = " + "not " * 30_000 + "1"),
        *("x = " + "lambda: " * 30_000 + "1", "if 0:\n 1\n" + "elif 0:\n 1\n" * 30_000),
    ],
    ids=["sum", "not", "lambda", "elif"],
)
def test_code_too_deep_to_be_parsed_is_read_as_words(source):
    assert names_read(source) >= {"x"} or "elif" in source
    assert isinstance(repairing.defined(source), frozenset)


def alike(n: int) -> dict:
    return {(2**61 - 1) * i: 0 for i in range(n)}


def forged(pairs: list) -> bytes:
    """Write a dict as hostile code would: past the bounds of its own side."""
    header = json.dumps({"dict": pairs}).encode()
    return len(header).to_bytes(8, "little") + header


@pytest.mark.parametrize(
    "keys",
    [
        [(2**61 - 1) * i for i in range(300)],
        [2**80],
        list(range(MAX_KEYS + 1)),
        ["x" * 1001],
        [{"tuple": [{"tuple": [1]}]}],
    ],
    ids=["one hash", "more than 64 bits", "too many", "long text", "nested"],
)
def test_a_dict_that_would_be_slow_is_refused(keys):
    with pytest.raises(WireError):
        loads(forged([[key, 0] for key in keys]))


def test_keys_of_one_hash_that_fit_into_64_bits_are_refused_when_there_are_many():
    pairs = _tuples_of_one_hash(200)
    assert len({hash(pair) for pair in pairs}) == 1
    with pytest.raises(WireError, match="slow"):
        loads(forged([[{"tuple": list(pair)}, 0] for pair in pairs]))


def _tuples_of_one_hash(n: int) -> list[tuple[int, int]]:
    """Solve the hash of a pair (xxHash without a secret) for its second number."""
    bits, most = 2**64, 2**61 - 1
    p1, p2, p5 = 11400714785074694791, 14029467366897019727, 2870177450012600261
    undo1, undo2 = pow(p1, -1, bits), pow(p2, -1, bits)

    def turned(x: int, by: int) -> int:
        return ((x << by) | (x >> (64 - by))) % bits

    wanted, found, first = 12345678901234567, [], 0
    while len(found) < n:
        first += 1
        acc = turned((p5 + first * p2) % bits, 31) * p1 % bits
        second = (turned(wanted * undo1 % bits, 33) - acc) * undo2 % bits
        if second < most:
            found.append((first, second))
    return found


def test_dicts_of_honest_answers_cross():
    pairs = {(a, b): a * b for a in range(-70, 70) for b in range(100)}
    words = {(1, 2, 3) * 50: 4, "the": 1, 2.5: 2, None: 3, True: 5, b"x": 6}
    assert loads(dumps([pairs, words])) == [pairs, words]


def test_all_cells_of_a_notebook_share_the_room_for_outputs():
    room, picture = Room(), {"image/png": "A" * 3_000_000}
    shown = [
        room.bounded([{"output_type": "display_data", "data": picture, "metadata": {}}] * 3)
        for _ in range(12)
    ]
    assert MAX_NOTEBOOK / 2 < len(json.dumps(shown)) < MAX_NOTEBOOK + 10_000
    assert "cut off" in shown[-1][-1]["text"]
    assert room.bounded([stream("x")]) == [stream("x")]  # what is left is still given out


def test_a_text_in_a_thousand_colours_loses_them():
    told = harmless({"output_type": "stream", "name": "stdout", "text": "\x1b[31mx" * 30_000})
    assert told["text"] == "x" * 30_000


@pytest.mark.parametrize("piece", ["<div>", ">", "[", "*a ", "$", "\\begin{a}", "<b title=a>"])
def test_text_too_long_or_too_deep_is_shown_as_it_was_written(piece):
    shown = rendered(piece * 60_000, {})
    assert "as it was written" in shown and "<div>" not in shown
