"""Released notebooks: made from the one source, empty where the learner writes, never stale."""

import ast
import inspect
import json
import re

import nbformat
import pytest

from autograder import lessons
from autograder.checks.question import Exercise
from autograder.errors import ReleaseError
from autograder.release import notebooks as release
from autograder.release.notebooks import as_text, author
from autograder.release.solution import BEGIN, END, _marked, solution_text
from autograder.repository import EXERCISES, order

LESSONS = order()


@pytest.fixture(scope="module")
def authored():
    return {lesson: author(lesson) for lesson in LESSONS}


@pytest.fixture(scope="module")
def released(authored):
    return {lesson: release.release(notebook) for lesson, notebook in authored.items()}


def test_every_lesson_with_checks_has_an_exercise_file_in_the_table_of_contents():
    assert sorted(LESSONS) == lessons.names()


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_committed_notebook_is_what_the_release_step_makes(released, lesson):
    assert (EXERCISES / f"{lesson}.ipynb").read_text(encoding="utf-8") == as_text(released[lesson])


@pytest.mark.parametrize("lesson", LESSONS)
def test_two_releases_are_equal_to_the_byte(released, lesson):
    again = release.release(author(lesson))
    assert as_text(again).encode() == as_text(released[lesson]).encode()


IDIOMS = {"for _ in range(n):", "with torch.no_grad():"}  # they give nothing away


def solution_lines(cell) -> set[str]:
    """Return the lines of an authored cell that the release step has to take out."""
    inside = [part.partition(END)[0] for part in cell.source.split(BEGIN)[1:]]
    return {line.strip() for part in inside for line in part.splitlines() if line.strip()}


def constructor_lines(source: str) -> set[str]:
    """Return the lines of constructors: one class's may be given, and resemble another's."""
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    made = [ast.get_source_segment(source, n) for n in nodes if n.name == "__init__"]
    return {line.strip() for text in made for line in text.splitlines()}


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_line_of_a_solution_is_in_a_released_notebook(authored, released, lesson):
    shown = {line.strip() for cell in released[lesson].cells for line in cell.source.splitlines()}
    cells = {cell.id: cell for cell in authored[lesson].cells}
    for exercise in lessons.load(lesson).exercises:
        hidden = solution_lines(cells[f"{lesson}-{exercise.name}"])
        source = inspect.getsource(exercise.reference)
        assert hidden and hidden <= {line.strip() for line in source.splitlines()}
        assert not (hidden - IDIOMS - constructor_lines(source)) & shown


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_answer_marker_model_answer_or_output_is_released(released, lesson):
    text = as_text(released[lesson])
    for secret in (BEGIN, END, "Model answer", "Marking guide", "HIDDEN"):
        assert secret not in text
    for cell in released[lesson].cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_right_letter_is_not_released(released, lesson):
    for question in lessons.load(lesson).questions:
        if not isinstance(question, Exercise):
            (cell,) = (c for c in released[lesson].cells if c.id == f"{lesson}-{question.name}")
            code = [line for line in cell.source.splitlines() if not line.startswith("#")]
            assert not any("=" in line for line in code), cell.source


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_points_sum_to_one_hundred_and_every_question_has_its_check(released, lesson):
    roles = [c.metadata.get("nbgrader", {}) for c in released[lesson].cells]
    assert sum(role.get("points", 0) for role in roles) == 100
    for name in lessons.load(lesson).names:
        (cell,) = (c for c in released[lesson].cells if c.id == f"{lesson}-{name}-check")
        points = lessons.load(lesson)[name].points
        assert cell.source == (
            f'from autograder import check\ncheck("{lesson}.{name}", points={points})'
        )
        role = cell.metadata.nbgrader
        assert role.grade and role.locked and not role.solution and role.points == points


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_announced_minutes_are_those_of_the_tasks(lesson):
    text = (EXERCISES / f"{lesson}.md").read_text(encoding="utf-8")
    tasks = map(int, re.findall(r'"minutes": (\d+)', text))
    written = map(int, re.findall(r"^## .* points, about (\d+) minutes\)", text, re.MULTILINE))
    announced = re.search(r"about\s+(\d+)\s+minutes", text)
    assert abs(int(announced[1]) - sum(tasks) - sum(written)) <= 5


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_cell_has_an_id_of_its_own_that_is_made_from_its_name(released, lesson):
    ids = [cell.id for cell in released[lesson].cells]
    assert len(ids) == len(set(ids)) and all(i.startswith(f"{lesson}-") for i in ids)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_notebook_is_valid_and_has_no_more_metadata_than_it_needs(released, lesson):
    notebook = nbformat.from_dict(json.loads(as_text(released[lesson])))
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_code_cell_is_python_that_compiles(released, lesson):
    from IPython.core.inputtransformer2 import TransformerManager

    for cell in released[lesson].cells:
        if cell.cell_type == "code":
            compile(TransformerManager().transform_cell(cell.source), cell.id, "exec")


def test_notebooks_install_the_version_of_the_project(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "9.8.7"\n')
    monkeypatch.setattr(release, "ROOT", tmp_path)
    assert release.setup_text("warm_up").count('@v9.8.7"') == 2


def test_a_function_is_released_with_its_docstring_and_an_empty_body(released):
    cells = {c.id: c.source for c in released["warm_up"].cells}
    shown = cells["warm_up-weighted_average"]
    assert ast.get_docstring(ast.parse(shown).body[0]).startswith("Average the rows")
    assert shown.rstrip().endswith("raise NotImplementedError()")


def test_a_method_is_emptied_inside_its_class_and_the_rest_is_given():
    name, source = solution_text("solutions.multi_head.MultiHeadAttention.forward")
    before, rest = source.split(BEGIN)
    inside, after = rest.split(END)
    assert name == "MultiHeadAttention" and "self.out = nn.Linear" in before
    assert "merge_heads(heads)" in inside and not after.strip()


def test_an_object_without_a_docstring_is_refused():
    with pytest.raises(ReleaseError, match="has no docstring"):
        _marked("def f(x):\n    return x\n", ["f"])


def test_writing_says_whether_anything_changed(tmp_path, released):
    path = tmp_path / "warm_up.ipynb"
    assert release.write(released["warm_up"], path)
    assert not release.write(released["warm_up"], path)
