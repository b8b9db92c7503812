"""What is dead in a lesson is told at once, in a sentence with its file and line."""

import os
import shutil
import subprocess
import sys

import made_up_lesson as made_up
import pytest

from autograder import lessons
from autograder.checks import exercise_file
from autograder.checks.question import Choice, Conclusion, Lesson
from autograder.proof.first_look import faults, first_look
from autograder.seam.probe import call


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    """Load the made-up lesson with some of its text changed."""
    here, solutions = tmp_path / "lessons", tmp_path / "solutions"
    for folder in (here / made_up.NAME, solutions):
        folder.mkdir(parents=True)

    def load(*changes: tuple[str, str], exercises: tuple[str, str] = ("", "")) -> Lesson:
        text = made_up.QUESTION
        for old, new in changes:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (here / made_up.NAME / "__init__.py").write_text(made_up.INIT)
        (here / made_up.NAME / "double.py").write_text(text)
        (solutions / f"{made_up.NAME}.py").write_text(made_up.REFERENCE)
        (tmp_path / f"{made_up.NAME}.md").write_text(made_up.EXERCISES.replace(*exercises))
        return lessons.load(made_up.NAME)

    import autograder.lessons
    import solutions as package

    monkeypatch.setattr(lessons, "HERE", here)
    monkeypatch.setattr(autograder.lessons, "__path__", [str(here)])
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(solutions)])
    monkeypatch.setattr(exercise_file, "EXERCISES", tmp_path)
    monkeypatch.setattr("autograder.proof.first_look.ROOT", tmp_path)
    yield load
    lessons.load.cache_clear()
    for name in list(sys.modules):
        if name.endswith(made_up.NAME) or f".{made_up.NAME}." in name:
            del sys.modules[name]


def line_of(text: str) -> int:
    assert made_up.QUESTION.count(text) == 1
    return made_up.QUESTION[: made_up.QUESTION.index(text)].count("\n") + 1


def told(line: int, text: str) -> list[str]:
    return [f"lessons/made_up/double.py:{line}: made_up.double: {text}"]


def test_nothing_is_told_of_a_sound_lesson(lesson):
    assert first_look(lesson()) == []


def test_a_draw_of_the_wrong_shape_that_makes_the_reference_raise_is_told(lesson):
    """A wrong answer that raises there too would pass the case."""
    pair = '"a pair", lambda d: args(d.normal(2), d.normal(2))'
    (text,) = first_look(lesson(('"a table", lambda d: args(d.normal(3, 4))', pair)))
    start = told(line_of('"a table"'), "the reference itself raises in 'a pair': TypeError: ")[0]
    assert text.startswith(start)


def test_a_draw_that_makes_the_reference_raise_for_some_seeds_only_is_told(lesson):
    seldom = "args(*[d.normal(3)] * (1 + (d.random.random() > 0.6)))"
    dead = lesson(("args(d.normal(3, 4))", seldom), ('"a table"', '"a tablet"'))
    (text,) = first_look(dead)
    assert "the reference itself raises in 'a tablet', drawn from the seed 'verify 0'" in text


def test_inputs_that_cannot_be_drawn_are_told(lesson):
    dead = lesson(("args(d.normal(3, 4))", "args(d.normal(3, 4) @ d.normal(3))"))
    (text,) = first_look(dead)
    assert text.startswith(
        told(line_of('"a table"'), "the inputs of 'a table' cannot be drawn: RuntimeError: ")[0]
    )


def test_an_exercise_without_slips_is_told(lesson):
    slip = '[Slip("tripled", double, "x * 2", "x * 3", "This is three times.")]'
    assert first_look(lesson((slip, "[]"))) == told(
        line_of("QUESTION = "),
        "it has no slips, so no mistake in it can be named; write those that are likely",
    )


def test_a_probe_that_reads_a_global_is_told(lesson):
    dead = lesson(("getattr(own, name)(x).shape)", "getattr(own, name)(x).shape) + (math.pi,)"))
    assert first_look(dead) == told(
        line_of("def _shape"),
        "the probe _shape reads the global 'math', and behind the wall there is none; import it "
        "in the body",
    )


def test_a_part_that_is_misspelt_is_told_with_the_nearest(lesson):
    first, second = first_look(lesson(('Case("values"', 'Case("valeus"')))
    assert [first] == told(
        line_of('Case("values"'),
        "the case 'a table' counts for 'valeus', which is no part of it. Did you mean 'values'?",
    )
    assert [second] == told(line_of('"values": 80'), "no case counts for the part 'values'")


def test_a_part_that_the_reference_never_reaches_is_told(lesson):
    """Gradients count for the part of that name in any case; but whole numbers have none."""
    dead = lesson(
        ('"shape": 10', '"gradient": 10'),
        ('Case("shape"', 'Case("values"'),
        ('"a table", lambda d: args(d.normal(3, 4))', '"ids", lambda d: args(d.integers(0, 9, 4))'),
    )
    (text,) = first_look(dead)
    assert "made_up.double: the reference itself loses 'gradient': not reached" in text


def test_two_cases_of_one_name_are_told(lesson):
    dead = lesson(('Case("shape", "three axes"', 'Case("values", "a table"'), (', "shape": 10', ""))
    assert any(
        "two cases of 'values' are called 'a table'; name one of them anew" in text
        for text in first_look(dead)
    )


def test_an_exercise_file_that_cannot_be_released_is_told(lesson):
    assert first_look(lesson(exercises=("import torch\nfrom torch import Tensor", "1"))) == [
        "exercises/made_up.md:18: this cell's code uses 'Tensor', and no cell of the notebook "
        "imports or binds it."
    ]


def test_a_lesson_without_an_exercise_file_is_told(lesson, tmp_path):
    made = lesson()
    (tmp_path / "made_up.md").unlink()
    assert first_look(made) == ["There is no exercises/made_up.md to release."]


def test_a_right_letter_that_is_no_answer_is_told(lesson):
    made = Lesson("made_up", [*lesson().questions, Choice("which", 5, "e", {"a": "no"})])
    assert "made_up.which: the right answer 'e' is not among the answers" in first_look(made)


def measured(own):
    return {"sum": 1}


def raises(own):
    return own.nothing


@pytest.mark.parametrize(
    ("probe", "sentence"),
    [
        (measured, "which concludes 'z', which is none of its answers"),
        (raises, "The experiment of which measures nothing: AttributeError: "),
    ],
)
def test_an_experiment_that_supports_no_answer_is_told(lesson, probe, sentence):
    question = Conclusion("which", 10, probe, (), lambda seen: "z", {"a": "no"})
    answer = '```{code-cell}\n:answer: which\n```\n\n+++ {"written": "why", "points": 10}'
    made = lesson(exercises=('+++ {"written": "why", "points": 10}', answer))
    made.questions.append(question)
    (text,) = first_look(made)
    line = made_up.EXERCISES[: made_up.EXERCISES.index('+++ {"written"')].count("\n") + 2
    assert text.startswith(f"exercises/made_up.md:{line}: {sentence}")


def test_what_is_wrong_with_a_probe_is_said():
    def inside(own):
        return own.x

    assert faults(call) == []
    assert faults(inside) == [
        "is written inside something else; put it at the top level of its file"
    ]
    assert "is written inside" in faults(lambda own: own.x)[0]
    assert faults(print)[0].startswith("is no plain function")
    assert "reads the global 'made_up'" in faults(reads_in_default)[0]


def reads_in_default(own, name=made_up.NAME):
    return name


@pytest.mark.parametrize("name", lessons.names())
def test_no_lesson_of_the_course_is_dead(name):
    assert first_look(lessons.load(name)) == []


@pytest.fixture
def checkout(tmp_path):
    """Run a command in a copy of the tree that holds the made-up lesson only."""

    def run(*command: str, **changed: str) -> subprocess.CompletedProcess:
        folder = tmp_path / "tree"
        if not folder.exists():
            made_up.checkout(folder, **changed)
            for path in (folder / "autograder" / "lessons").iterdir():
                if path.is_dir() and path.name != made_up.NAME:
                    shutil.rmtree(path)
        environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, "-m", "autograder", *command],
            **{"cwd": folder, "env": environment, "capture_output": True, "text": True},
        )

    return run


def test_verify_stops_at_a_wrong_sum_of_points_with_one_sentence_and_no_traceback(checkout):
    changed = {"exercises/made_up.md": made_up.EXERCISES.replace('"points": 10', '"points": 9')}
    done = checkout("verify", **changed)
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.splitlines() == [
        "falls short: exercises/made_up.md: the points sum to 99, not to 100.",
        "Nothing more was tried: cure this first.",
    ]


def test_the_made_up_lesson_is_proved_and_its_demo_is_graded(checkout, tmp_path):
    done = checkout("verify", "--seeds", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    done = checkout("demo", str(tmp_path / "course"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "made_up: 14 submissions" in done.stdout
    grades = (tmp_path / "course" / "grades.csv").read_text()
    assert "learner_15" in grades
