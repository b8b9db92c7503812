"""A mistake in an exercise file gets a sentence with its file and line, never a traceback."""

import shutil

import pytest

from autograder.__main__ import main
from autograder.checks import exercise_file
from autograder.checks.exercise_file import Body, bodies, bodies_in, written_answers
from autograder.errors import ReleaseError, UnknownLesson
from autograder.lessons import load
from autograder.release import notebooks
from autograder.release.names import unbound
from autograder.release.notebooks import author
from autograder.release.solution import solution_text
from autograder.repository import EXERCISES, order


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Change one text of warm_up's exercise file, and return the line on which it stands."""
    for path in EXERCISES.glob("*.md"):
        shutil.copy(path, tmp_path)
    for module in (exercise_file, notebooks):
        monkeypatch.setattr(module, "EXERCISES", tmp_path)

    def change(old: str, new: str) -> int:
        path = tmp_path / "warm_up.md"
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
        return text[: text.index(old)].count("\n") + 1

    return change


SOLUTION = ":solution: solutions.warm_up.softmax"
TASK = '+++ {"exercise": "softmax", "difficulty": 2, "minutes": 12}'
NO_TASK = '{"exercise": "softmax", "difficulty": 2}'
MISTAKES = {
    "a check of no question": (
        *(":check: softmax", ":check: sofmax"),
        "Lesson 'warm_up' has no 'sofmax'. Did you mean 'softmax'?",
    ),
    "a check of nothing": (":check: softmax\n", ":check:\n", "Lesson 'warm_up' has no "),
    "a task of no question": (
        *('{"exercise": "softmax"', '{"exercise": "soft_max"'),
        "Lesson 'warm_up' has no 'soft_max'. Did you mean 'softmax'?",
    ),
    "an answer to no question": (
        *(":answer: which_line", ":answer: which_lime"),
        "Lesson 'warm_up' has no 'which_lime'. Did you mean 'which_line'?",
    ),
    "an answer in letters to a question for code": (
        *(SOLUTION, ":answer: softmax"),
        "softmax is answered with code: write `:solution:` instead of `:answer:`.",
    ),
    "a misspelt option of a code cell": (
        *(":check: softmax", ":chekc: softmax"),
        "`:chekc:` is no option of a cell. Did you mean 'check'?",
    ),
    "a misspelt option of a text": (
        *('{"exercise": "softmax"', '{"exercize": "softmax"'),
        "`\"exercize\":` is no option of a cell. Did you mean 'exercise'?",
    ),
    "no minutes": (TASK, f"+++ {NO_TASK}", '`"exercise":` softmax has no `"minutes":` beside it.'),
    "minutes in words": (
        *('"difficulty": 2, "minutes": 12', '"difficulty": 2, "minutes": "12"'),
        "`\"minutes\":` '12' is no whole number.",
    ),
    "no difficulty": (
        *(TASK, TASK.replace('"difficulty": 2, ', "")),
        '`"exercise":` softmax has no `"difficulty":` beside it.',
    ),
    "no points for a written answer": (
        *('{"written": "why_subtract", "points": 10}', '{"written": "why_subtract"}'),
        '`"written":` why_subtract has no `"points":` beside it.',
    ),
    "no points for a check": (
        *(":check: softmax\n:points: 30", ":check: softmax"),
        "`:check:` softmax has no `:points:` beside it.",
    ),
    "other points than the parts have": (
        *(":points: 30", ":points: 31"),
        "softmax is worth 30 points, the file says 31.",
    ),
    "a function that is not there": (
        *(SOLUTION, ":solution: solutions.warm_up.sofmax"),
        "solutions.warm_up has no 'sofmax'. Did you mean 'softmax'?",
    ),
    "a file that is not there": (
        *(SOLUTION, ":solution: solutions.warmup.softmax"),
        "There is no solutions/warmup.py.",
    ),
    "no function at all": (
        *(SOLUTION, ":solution: solutions.warm_up"),
        "`:solution: solutions.warm_up` names no function or class: write solutions.FILE.NAME",
    ),
    "a block that is not JSON": (TASK, "+++ {'exercise': 1}", "Markdown cell 2 at line"),
    "an import that is missing": (
        *("import math\n\nimport matplotlib.pyplot as plt\nimport torch\n", "import torch\n"),
        "this cell's code uses 'plt', and no cell of the notebook imports or binds it.",
    ),
    "a name that only a later cell binds": (
        *("ids = torch.tensor([3, 0, 2])", "ids = torch.tensor([3, 0, 2]) + len(scores)"),
        "this cell's code uses 'scores', and no cell of the notebook imports or binds it.",
    ),
    "a cell that is no Python": (
        *("ids = torch.tensor([3, 0, 2])", "ids = torch.tensor([3, 0, 2]"),
        "line 1 of this cell is no Python: '(' was never closed.",
    ),
}
# the mistake stands further down than the line on which its cell begins
INSIDE = {"a name that only a later cell binds": -3, "a cell that is no Python": -3}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_an_exercise_file_is_told_with_its_line(broken, mistake):
    old, new, sentence = MISTAKES[mistake]
    line = broken(old, new) + INSIDE.get(mistake, 0)
    with pytest.raises(ReleaseError) as told:
        author("warm_up")
    text = str(told.value)
    if mistake == "an import that is missing":  # it is told where the name is used
        line = int(text.split(":")[1])
        used = (exercise_file.EXERCISES / "warm_up.md").read_text().splitlines()
        assert used[line - 1] == "```{code-cell}" and "all-three" in used[line]
    assert text.startswith(f"exercises/warm_up.md:{line}: ") and sentence in text


WHOLE = {
    "the sum of the points": (
        *('"why_subtract", "points": 10', '"why_subtract", "points": 7'),
        "the points sum to 97, not to 100.",
    ),
    "a question without a task": (
        *('+++ {"exercise": "which_line", "difficulty": 2, "minutes": 4}', "+++"),
        'no text begins with +++ {"exercise": "which_line"}.',
    ),
    "a question without an answer": (
        *("```{code-cell}\n:answer: which_line\n```\n", ""),
        "which_line has no cell to answer it in.",
    ),
}


@pytest.mark.parametrize("mistake", WHOLE)
def test_what_is_missing_from_an_exercise_file_is_told(broken, mistake):
    old, new, sentence = WHOLE[mistake]
    broken(old, new)
    with pytest.raises(ReleaseError) as told:
        author("warm_up")
    assert str(told.value) == f"exercises/warm_up.md: {sentence}"


def test_a_question_without_a_check_is_told(broken):
    broken("```{code-cell}\n:check: which_line\n:points: 10\n```\n", "")
    broken('"why_subtract", "points": 10', '"why_subtract", "points": 20')
    with pytest.raises(ReleaseError, match="no cell has `:check: which_line`"):
        author("warm_up")


def test_two_cells_of_one_name_are_told_with_the_line_of_the_second(broken):
    line = broken(":name: experiment", ":name: puzzle") - 1
    with pytest.raises(ReleaseError, match="two cells have the id 'warm_up-puzzle'") as told:
        author("warm_up")
    assert str(told.value).startswith(f"exercises/warm_up.md:{line}: ")


@pytest.mark.parametrize("command", [["release"], ["init", "course", "warm_up"]])
def test_the_commands_print_one_sentence_and_no_traceback(
    broken, command, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    line = broken(":check: softmax", ":check: sofmax")
    assert main(command) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told == (
        f"autograder: exercises/warm_up.md:{line}: Lesson 'warm_up' has no 'sofmax'. "
        "Did you mean 'softmax'?"
    )


def test_a_broken_exercise_file_leaves_every_released_notebook_as_it_was(broken, tmp_path):
    broken(":check: softmax", ":check: sofmax")
    assert main(["release"]) == 2
    assert not list(tmp_path.glob("*.ipynb"))


def test_a_question_that_is_not_there_gets_a_sentence():
    with pytest.raises(UnknownLesson, match=r"has no 'sofmax'\. Did you mean 'softmax'"):
        load("warm_up")["sofmax"]


def test_a_method_that_is_not_there_gets_a_sentence():
    with pytest.raises(ReleaseError, match=r"no 'forwards'\. Did you mean 'forward'"):
        solution_text("solutions.multi_head.MultiHeadAttention.forwards")


def test_one_cell_holds_one_object():
    with pytest.raises(ReleaseError, match="names several objects"):
        solution_text("solutions.warm_up.softmax, solutions.warm_up.one_hot_rows")


def test_the_bodies_a_learner_writes_are_read_from_the_exercise_file():
    assert bodies("multi_head") == [
        Body("solutions.multi_head", "split_heads"),
        Body("solutions.multi_head", "merge_heads"),
        Body("solutions.multi_head", "MultiHeadAttention.forward"),
    ]
    first, second = bodies_in("solutions.a.B.c, solutions.a.B.d")
    assert (first.whole, first.qualname, second.qualname) == ("B", "B.c", "B.d")


@pytest.mark.parametrize("lesson", order())
def test_every_exercise_has_a_body_and_every_body_an_exercise(lesson):
    written = {(body.module, body.whole) for body in bodies(lesson)}
    asked = {(e.reference.__module__, e.name) for e in load(lesson).exercises}
    assert written == asked


def test_the_answers_in_words_are_read_from_the_exercise_file():
    assert written_answers("warm_up") == ["why_subtract"]


def test_reading_an_exercise_file_imports_nothing_heavy():
    import subprocess
    import sys

    code = (
        "import sys; from autograder.wall.furnish import hidden_modules; "
        "assert 'multi_head' in hidden_modules('multi_head'); "
        "print(sorted({'torch', 'nbformat', 'IPython', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        (["import math", "math.pi"], []),
        (["x = y"], [(0, "y")]),
        (["def f():\n    return later", "later = 1"], []),
        (["def f():\n    return never"], [(0, "never")]),
        (["print(later)", "later = 1"], [(0, "later")]),
        (["class A(nn.Module):\n    pass"], [(0, "nn")]),
        (
            ["class A:\n    size = n\n    def f(self):\n        return size"],
            [(0, "n"), (0, "size")],
        ),
        (["def f(x: Tensor) -> int:\n    return x"], [(0, "Tensor")]),
        (["[i for i in range(3)]", "for k in []:\n    pass", "k"], []),
        (["def f():\n    def g():\n        return torch\n    return g"], [(0, "torch")]),
        (["def f(a):\n    return lambda b: a + b + c"], [(0, "c")]),
        (["try:\n    pass\nexcept OSError as e:\n    print(e)", "display(In, Out, _)"], []),
    ],
)
def test_a_name_that_nothing_binds_is_found(cells, missing):
    assert list(unbound(cells)) == missing
