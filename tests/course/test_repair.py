"""A submission is healed against its release: no lost or moved label costs points."""

import copy
import json

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submissions import LESSON, cell, code, honest, place, plain, points, released

from autograder.checks.cells import is_check, is_graded
from autograder.course.repair import defined, repair
from autograder.course.sample import stripped
from autograder.course.submission import read
from autograder.errors import Unreadable

RELEASED = released()
HONEST = honest()
FULL = {
    "softmax": 30,
    "weighted_average": 20,
    "one_hot_rows": 15,
    "which_line": 10,
    "what_moves": 15,
}
EMPTY = plain(RELEASED)


@pytest.fixture
def work() -> dict:
    return copy.deepcopy(HONEST)


def healed(work: dict):
    """Repair, and make sure of what must hold for every submission."""
    made, notes = repair(work, RELEASED)
    nbformat.validate(made)
    ids = [c.id for c in made.cells]
    assert len(ids) == len(set(ids))
    for wanted in RELEASED.cells:
        if is_graded(wanted):
            found = next(c for c in made.cells if c.id == wanted.id)
            assert found.metadata == wanted.metadata
            if is_check(wanted):
                assert found.source == wanted.source
    return made, notes


def source(made, name: str) -> str:
    return cell(made, name)["source"]


def test_an_untouched_submission_is_left_as_it_is(work):
    made, notes = healed(work)
    assert notes == []
    assert [c.source for c in made.cells] == [c["source"] for c in work["cells"]]
    assert [c.metadata for c in made.cells] == [c.metadata for c in RELEASED.cells]


def test_a_round_trip_through_colab_leaves_the_grade_unchanged(work):
    before = points(repair(work, RELEASED)[0])
    made, _ = healed(plain(stripped(LESSON)))
    assert before == FULL
    assert points(made) == before


def test_all_labels_lost_still_finds_every_cell_by_its_text(work):
    for c in work["cells"]:
        del c["id"]
        c["metadata"] = {}
    made, notes = healed(work)
    assert any("found by their text" in note for note in notes)
    assert points(made) == FULL
    assert "multiplies numerator" in source(made, "why_subtract")


def test_an_id_that_colab_moved_into_the_metadata_is_found(work):
    target = cell(work, "softmax")
    target.update(source="my_softmax = 3", metadata={"id": target.pop("id")})
    made, notes = healed(work)
    assert source(made, "softmax") == "my_softmax = 3"
    assert notes == []


def test_half_a_character_does_not_stop_the_notebook_from_being_written(work):
    cell(work, "softmax")["source"] += "  # \ud800"
    made, _ = healed(work)
    assert nbformat.writes(made).encode("utf-8")


def test_renamed_grade_ids_are_seen_through(work):
    for c in work["cells"]:
        c["id"] = "x" + c["id"][-40:]
        if "nbgrader" in c["metadata"]:
            c["metadata"]["nbgrader"]["grade_id"] = c["id"]
    made, _ = healed(work)
    assert source(made, "softmax") == cell(HONEST, "softmax")["source"]


def test_outputs_and_execution_counts_are_dropped(work):
    cell(work, "softmax-check").update(outputs=[{"output_type": "junk"}], execution_count=7)
    made, _ = healed(work)
    assert all(c.outputs == [] for c in made.cells if c.cell_type == "code")


def test_of_two_copies_the_last_filled_in_one_counts(work):
    copied = copy.deepcopy(cell(work, "softmax"))
    copied["source"] += "\n# second thoughts"
    work["cells"].insert(place(work, "softmax") + 1, copied)
    made, notes = healed(work)
    assert source(made, "softmax").endswith("# second thoughts")
    assert any("several copies" in note and "softmax" in note for note in notes)
    assert [c.source for c in made.cells].count(cell(HONEST, "softmax")["source"]) == 1


def test_an_empty_copy_below_does_not_undo_the_answer(work):
    empty = copy.deepcopy(cell(EMPTY, "softmax"))
    work["cells"].insert(place(work, "softmax") + 1, empty)
    made, _ = healed(work)
    assert points(made) == FULL


def test_an_answer_in_a_cell_of_ones_own_counts_when_the_given_cell_is_empty(work):
    own = {"cell_type": "code", "source": cell(work, "softmax")["source"], "metadata": {}}
    cell(work, "softmax")["source"] = cell(EMPTY, "softmax")["source"]
    work["cells"].append(own)
    made, notes = healed(work)
    assert any("moved" in note for note in notes)
    assert points(made) == FULL


def test_an_experiment_in_a_cell_of_ones_own_does_not_replace_the_answer(work):
    work["cells"].append({"cell_type": "code", "source": "def softmax(x):\n    return x"})
    made, _ = healed(work)
    assert source(made, "softmax") == cell(HONEST, "softmax")["source"]
    assert made.cells[-1].source.startswith("def softmax(x):")
    assert "nbgrader" not in made.cells[-1].metadata


TAKEN_UP = "The written answer to why_subtract stood in a cell of its own."


def text(source: str, **fields) -> dict:
    """Return a markdown cell of the learner's own."""
    return {"cell_type": "markdown", "source": source, "metadata": {}, **fields}


def answer_beside(work: dict, *below: dict, above: tuple[dict, ...] = ()) -> None:
    """Leave the written cell as it was released, and put the learner's own cells around it."""
    cell(work, "why_subtract")["source"] = cell(EMPTY, "why_subtract")["source"]
    at = place(work, "why_subtract")
    work["cells"][at + 1 : at + 1] = below
    work["cells"][at:at] = above


def test_a_written_answer_in_a_cell_of_its_own_becomes_the_answer(work):
    answer_beside(work, text("The factor cancels."))
    made, notes = healed(work)
    assert source(made, "why_subtract") == "The factor cancels."
    assert made.cells[-1].source == "The factor cancels."
    assert notes == [TAKEN_UP]


def test_a_written_answer_in_several_cells_around_the_given_one_is_joined_in_order(work):
    below = [text("Third."), text(" \n"), code("x = 1"), text("Fourth.\n")]
    answer_beside(work, *below, above=(text("First."), text("Second.")))
    made, notes = healed(work)
    assert source(made, "why_subtract") == "First.\n\nSecond.\n\nThird.\n\nFourth."
    assert notes == [TAKEN_UP]


def test_a_written_answer_beside_an_emptied_cell_is_taken_up(work):
    answer_beside(work, text("The factor cancels."))
    cell(work, "why_subtract")["source"] = "\n"
    made, notes = healed(work)
    assert source(made, "why_subtract") == "The factor cancels."
    assert notes == [TAKEN_UP]


def test_a_written_answer_in_a_cell_of_its_own_is_found_without_labels(work):
    answer_beside(work, text("The factor cancels."))
    for c in work["cells"]:
        c.update(id="", metadata={})
    made, notes = healed(work)
    assert source(made, "why_subtract") == "The factor cancels."
    assert TAKEN_UP in notes


def test_a_picture_pasted_into_a_written_answer_of_its_own_comes_along(work):
    pasted = {"a.png": {"image/png": "QUJD"}}
    answer_beside(work, text("![](attachment:a.png)", attachments=pasted))
    made, _ = healed(work)
    assert cell(made, "why_subtract")["attachments"] == pasted


@pytest.mark.parametrize("words", ["Because the factor cancels.", "# The factor cancels."])
def test_a_written_answer_typed_into_a_code_cell_is_taken_up(work, words):
    answer_beside(work, code(words))
    made, notes = healed(work)
    assert source(made, "why_subtract") == words
    assert made.cells[-1].source == words
    assert notes == [TAKEN_UP]


def test_a_written_answer_typed_into_a_code_cell_counts_when_the_given_cell_is_gone(work):
    answer_beside(work, code("Because the factor cancels."))
    work["cells"].remove(cell(work, "why_subtract"))
    made, _ = healed(work)
    assert source(made, "why_subtract") == "Because the factor cancels."
    assert cell(made, "why_subtract")["cell_type"] == "markdown"


def test_a_blank_code_cell_does_not_take_the_place_of_a_written_cell_that_is_gone(work):
    answer_beside(work, code(" "))
    work["cells"].remove(cell(work, "why_subtract"))
    made, notes = healed(work)
    assert source(made, "why_subtract") == cell(EMPTY, "why_subtract")["source"]
    assert notes == ["Missing cells were put back: why_subtract."]


@pytest.mark.parametrize(
    "own",
    [
        text(""),
        text(" \n\t"),
        text(cell(EMPTY, "why_subtract")["source"]),
        text(cell(EMPTY, "text-6-in-your-own-words")["source"]),
        code(""),
        code("print(softmax(torch.ones(2), 0))"),
        code("import os\n!jupyter nbconvert --to pdf warm_up.ipynb"),
    ],
)
def test_a_blank_a_copy_or_code_beside_the_given_cell_is_no_written_answer(work, own):
    answer_beside(work, own)
    made, notes = healed(work)
    assert source(made, "why_subtract") == cell(EMPTY, "why_subtract")["source"]
    assert notes == []


def test_a_text_behind_another_released_cell_is_no_written_answer(work):
    answer_beside(work)
    work["cells"].insert(place(work, "what_moves"), text("My guess: nothing moves."))
    made, notes = healed(work)
    assert source(made, "why_subtract") == cell(EMPTY, "why_subtract")["source"]
    assert notes == []


def test_a_text_below_a_written_answer_is_left_alone(work):
    work["cells"].append(text("Thank you for the course."))
    made, notes = healed(work)
    assert source(made, "why_subtract") == cell(HONEST, "why_subtract")["source"]
    assert notes == []


def test_an_answer_that_stands_in_another_answer_s_cell_is_not_called_missing(work):
    for name in ("weighted_average", "one_hot_rows", "which_line"):
        moved = cell(work, name)
        work["cells"].remove(moved)
        if name != "one_hot_rows":
            cell(work, "softmax")["source"] += "\n\n" + moved["source"]
    made, notes = healed(work)
    assert notes == ["No cell holds an answer to: one_hot_rows."]
    assert points(made) == {**FULL, "one_hot_rows": 0}


def test_deleted_check_cells_are_put_back_after_their_answer(work):
    for name in ("softmax-check", "which_line-check", "what_moves-check"):
        work["cells"].remove(cell(work, name))
    made, notes = healed(work)
    assert place(made, "softmax-check") == place(made, "softmax") + 1
    assert place(made, "which_line-check") == place(made, "which_line") + 1
    assert any("put back" in note and "what_moves-check" in note for note in notes)


def test_with_every_cell_deleted_each_question_still_gets_its_zero():
    made, notes = healed({"cells": []})
    assert any(note.startswith("No cell holds an answer to: softmax") for note in notes)
    assert points(made) == dict.fromkeys(FULL, 0.0)


def test_a_check_before_its_answer_is_moved_behind_it(work):
    check = cell(work, "softmax-check")
    work["cells"].remove(check)
    work["cells"].insert(3, check)
    made, notes = healed(work)
    assert place(made, "softmax-check") == place(made, "softmax") + 1
    assert any("were moved: softmax-check" in note for note in notes)
    assert points(made) == FULL


def test_checks_follow_answers_that_all_stand_in_one_cell_at_the_end(work):
    names = [question.removesuffix("-check") for question in FULL]
    moved = [cell(work, name) for name in names]
    for one in moved:
        work["cells"].remove(one)
    work["cells"].append(code("\n\n".join(one["source"] for one in moved)))
    made, _ = healed(work)
    assert points(made) == FULL


def test_edited_points_and_flags_are_reset(work):
    cell(work, "softmax-check")["metadata"]["nbgrader"].update(points=1000, locked=False)
    cell(work, "softmax")["metadata"]["nbgrader"].update(grade=True, points=50)
    made, notes = healed(work)
    assert cell(made, "softmax-check")["metadata"]["nbgrader"]["points"] == 30
    assert any(note.startswith("Points or flags had been edited") for note in notes)


def test_an_own_cell_that_bears_a_check_s_label_does_not_take_its_place(work):
    forged = {"cell_type": "code", "id": f"{LESSON}-softmax-check", "source": "30.0"}
    forged["metadata"] = copy.deepcopy(cell(work, "softmax-check")["metadata"])
    work["cells"].append(forged)
    made, _ = healed(work)
    assert [c.id for c in made.cells].count(f"{LESSON}-softmax-check") == 1
    assert place(made, "softmax-check") > place(made, "softmax")


def test_the_tag_skip_execution_is_taken_off(work):
    cell(work, "softmax-check")["metadata"]["tags"] = ["skip-execution"]
    made, notes = healed(work)
    assert any("skip-execution" in note for note in notes)
    assert "tags" not in cell(made, "softmax-check")["metadata"]


def test_an_import_added_to_a_locked_cell_is_kept_beside_it(work):
    cell(work, "imports")["source"] += "\nimport torch.nn.functional as F"
    made, notes = healed(work)
    assert source(made, "imports") == cell(EMPTY, "imports")["source"]
    assert "as F" in made.cells[place(made, "imports") + 1].source
    assert notes == ["Locked cells had been edited and were restored: imports."]


def test_an_edited_check_is_restored(work):
    cell(work, "softmax-check")["source"] = "30.0"
    made, _ = healed(work)
    assert not any(c.source == "30.0" for c in made.cells)


def test_a_swapped_kernel_is_put_right_and_said(work):
    work["metadata"]["kernelspec"] = {"name": "evil", "display_name": "?", "language": "bash"}
    made, notes = healed(work)
    assert made.metadata.kernelspec.name == "python3"
    assert any("another kernel" in note for note in notes)


@pytest.mark.parametrize("minor", [0, 2, 4])
def test_an_older_format_4_without_ids_is_read(work, minor):
    work["nbformat_minor"] = minor
    for c in work["cells"]:
        del c["id"]
        c["source"] = c["source"].splitlines(keepends=True)
    made, _ = healed(work)
    assert source(made, "softmax") == cell(HONEST, "softmax")["source"]


def test_format_3_is_read(work):
    cells = []
    for c in work["cells"]:
        old = {"cell_type": c["cell_type"], "metadata": {}}
        old["input" if c["cell_type"] == "code" else "source"] = c["source"]
        cells.append(old)
    cells.append({"cell_type": "heading", "level": 2, "source": "Own heading", "metadata": {}})
    made, _ = healed({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]})
    assert source(made, "softmax") == cell(HONEST, "softmax")["source"]
    assert made.cells[-1].source == "# Own heading"


def test_a_cell_that_does_not_parse_is_found_by_pattern(work):
    target = cell(work, "softmax")
    target["source"] = target["source"].replace("return exponentials /", "return exponentials /)")
    del target["id"]
    target["metadata"] = {}
    made, _ = healed(work)
    assert source(made, "softmax") == target["source"]


def test_the_names_a_cell_defines_are_seen():
    assert defined("import a.b as c\nx: int = 1\ndef f():\n    y = 2\nclass G: pass") == set("cxfG")
    assert defined("%matplotlib inline\ndef f(:\n  y = 2\nz = 1\nz == 2") == {"f", "z"}


def test_the_answers_are_never_taken_from_the_source():
    made, _ = healed(copy.deepcopy(EMPTY))
    assert "YOUR CODE HERE" in source(made, "softmax")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "empty"),
        (b"{", "damaged"),
        (b"\xff\xfe\x00\x81", "not text"),
        (b"[1, 2]", "no notebook"),
        (b'{"cells": 3}', "no notebook"),
        (b"[" * 100_000, "damaged"),
    ],
)
def test_a_file_that_is_no_notebook_gets_a_sentence(tmp_path, content, sentence):
    (tmp_path / "a.ipynb").write_bytes(content)
    with pytest.raises(Unreadable, match=sentence):
        read(tmp_path / "a.ipynb")


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(
    ["id", "metadata", "source", "cell_type", "outputs", "attachments", "input", "nbgrader"]
)
labels = st.sampled_from([c.id for c in RELEASED.cells])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.integers(0, len(HONEST["cells"]) - 1), keys, junk | labels), max_size=12),
    st.lists(junk, max_size=3),
    st.sampled_from(["metadata", "nbformat", "none"]),
    junk,
)
def test_no_junk_in_a_notebook_makes_repair_raise(changes, extra, top, value):
    work = copy.deepcopy(HONEST)
    for at, key, new in changes:
        target = work["cells"][at]
        if key == "nbgrader" and isinstance(target.get("metadata"), dict):
            target = target["metadata"]
        target[key] = new
    work["cells"] += extra
    work[top] = value
    made, _ = healed(work)
    json.dumps(made, ensure_ascii=False).encode("utf-8")
