"""What a learner chose, a file's name or a folder inside the submission, never makes the work
another's where the platform has written whose it is."""

import pytest
from exported import handed_in, laid, packed, zipped
from submissions import LESSON

from autograder.course.collect import collect

MOODLE_A = "Learner A_1_assignsubmission_file_"
MOODLE_B = "Learner B_4712_assignsubmission_file_"
CANVAS_A, CANVAS_B = "learnera_1_10_", "learnerb_2_11_"
INNER_ZIP = {"{a}warm_up.ipynb": "B's", "{a}/warm_up.ipynb": "B's"}


def imitations(a: str) -> dict[str, str | bytes]:
    """Return what B may put into a submission to be taken for A, who is called `a` there."""
    return {
        "a file's name": {f"{a}warm_up.ipynb": "B's"},
        "a folder": {f"{a}/warm_up.ipynb": "B's"},
        "a folder in a folder": {f"work/{a}/warm_up.ipynb": "B's"},
        "a zip's name": {f"{a}warm_up.zip": packed({"warm_up.ipynb": "B's"}, day=9)},
        "a file in a zip": {"all.zip": packed({f"{a}warm_up.ipynb": "B's"}, day=9)},
        "a folder in a zip": {"all.zip": packed({f"{a}/warm_up.ipynb": "B's"}, day=9)},
    }


WAYS = list(imitations(""))


def test_the_issues_own_example(course, tmp_path):
    files = {f"{MOODLE_A}/warm_up.ipynb": "A's", f"{MOODLE_B}/{MOODLE_A}warm_up.ipynb": "B's"}
    path = zipped(tmp_path / "m.zip", files, late={f"{MOODLE_B}/{MOODLE_A}warm_up.ipynb": 9})
    collect(course, [path])
    assert handed_in(course) == {("Learner_A", LESSON): "A's", ("Learner_B", LESSON): "B's"}


@pytest.mark.parametrize("kind", ["zip", "folder", "folders"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("a", [MOODLE_A, CANVAS_A, "learnera_1_99_", "Learner A_", "learner_a"])
def test_moodles_folder_says_whose_it_is(course, tmp_path, a, way, kind):
    inside = {f"{MOODLE_B}/{name}": text for name, text in imitations(a)[way].items()}
    files = {f"{MOODLE_A}/warm_up.ipynb": "A's", **inside}
    _collect(course, tmp_path, kind, files, inside)
    assert handed_in(course) == {("Learner_A", LESSON): "A's", ("Learner_B", LESSON): "B's"}


@pytest.mark.parametrize("way", ["a file's name", "a zip's name"])
@pytest.mark.parametrize("a", [MOODLE_A, CANVAS_A, "learnera_1_99_", "Learner A_"])
def test_moodles_name_says_whose_it_is_where_it_makes_no_folders(course, tmp_path, a, way):
    inside = {f"{MOODLE_B}{name}": text for name, text in imitations(a)[way].items()}
    files = {f"{MOODLE_A}warm_up.ipynb": "A's", **inside}
    _collect(course, tmp_path, "zip", files, inside)
    assert handed_in(course) == {("Learner_A", LESSON): "A's", ("Learner_B", LESSON): "B's"}


@pytest.mark.parametrize("kind", ["zip", "folder"])
@pytest.mark.parametrize("way", ["a file's name", "a zip's name", *WAYS[-2:]])
@pytest.mark.parametrize("a", [MOODLE_A, CANVAS_A, "learnera_1_99_", "learnera_1_"])
def test_canvas_name_says_whose_it_is(course, tmp_path, a, way, kind):
    inside = {f"{CANVAS_B}{name}": text for name, text in imitations(a)[way].items()}
    files = {f"{CANVAS_A}warm_up.ipynb": "A's", **inside}
    _collect(course, tmp_path, kind, files, inside)
    assert handed_in(course) == {("learnera_1", LESSON): "A's", ("learnerb_2", LESSON): "B's"}


@pytest.mark.parametrize("kind", ["zip", "folder", "folders"])
@pytest.mark.parametrize("way", ["a folder", *WAYS[3:]])
@pytest.mark.parametrize("a", [MOODLE_A, CANVAS_A, "learnera_1_99_"])
def test_a_learners_own_folder_says_whose_it_is(course, tmp_path, a, way, kind):
    inside = {f"bob/{name}": text for name, text in imitations(a)[way].items()}
    files = {"ada/warm_up.ipynb": "A's", "carl/warm_up.ipynb": "C's", **inside}
    _collect(course, tmp_path, kind, files, inside)
    got = handed_in(course)
    assert got == {("ada", LESSON): "A's", ("bob", LESSON): "B's", ("carl", LESSON): "C's"}


@pytest.mark.parametrize("earlier", [MOODLE_A, CANVAS_A])
def test_a_name_that_only_a_person_wrote_replaces_nothing_of_the_platforms(
    course, tmp_path, earlier
):
    sep = "/" if earlier == MOODLE_A else ""
    collect(course, [zipped(tmp_path / "p.zip", {f"{earlier}{sep}warm_up.ipynb": "A's"})])
    [(student, _)] = handed_in(course)
    by_hand = {f"{student}_warm_up.ipynb": "not A's"}
    taken, notes = collect(course, [zipped(tmp_path / "flat.zip", by_hand, day=9)])
    assert handed_in(course) == {(student, LESSON): "A's"} and not taken
    assert len(notes) == 1 and "the platform" in notes[0]


def test_another_number_of_moodles_replaces_nothing(course, tmp_path):
    for day, number in ((1, 11), (2, 12)):
        name = f"Ada Li_{number}_assignsubmission_file_/warm_up.ipynb"
        notes = collect(course, [zipped(tmp_path / "m.zip", {name: str(number)}, day)])[1]
    assert handed_in(course)["Ada_Li", LESSON] == "11"
    assert len(notes) == 1 and "another person" in notes[0]


def _collect(course, tmp_path, kind: str, files: dict, later: dict) -> None:
    if kind == "zip":
        collect(course, [zipped(tmp_path / "e.zip", files, late=dict.fromkeys(later, 9))])
        return
    root = laid(tmp_path / "export", files)
    laid(root, later, when=1_900_000_000)
    collect(course, [root] if kind == "folder" else sorted(root.iterdir()))
