"""Every platform's export, in its real layout, gives each learner their own work and its time."""

import pytest
from exported import handed_in, laid, packed, zipped
from made_up import EXPORTS, GIT_CONFIG, WORK
from submissions import LESSON

from autograder.course.collect import collect

FOLDERS = [*EXPORTS]
ZIPS = [name for name in EXPORTS if name != "GitHub"]  # a checkout is a folder


def put(tmp_path, kind: str, files: dict, later: dict | None = None):
    """Lay an export out, B's part of it dated later than the rest."""
    if kind == "zip":
        return zipped(tmp_path / "export.zip", files, late=dict.fromkeys(later or {}, 9))
    root = laid(tmp_path / "export", files)
    return laid(root, later or {}, when=1_900_000_000)


@pytest.mark.parametrize(
    ("name", "kind"), [*((n, "zip") for n in ZIPS), *((n, "folder") for n in FOLDERS)]
)
def test_an_export_gives_each_learner_their_own_work(course, tmp_path, name, kind):
    export = EXPORTS[name]
    _, notes = collect(course, [put(tmp_path, kind, export.files)])
    got = {student: text for (student, _), text in handed_in(course).items()}
    assert got.keys() == export.learners == set(course.students())
    assert got[export.ada_key] == "Ada"
    assert sorted(t[:2] for t in got.values())[:1] == ["Ad"]
    assert {t for t in got.values() if "Li" in t} <= {"Li 1", "Li 2", "Zoë and Li"}
    harmless = ("replaces the older", "two or more of this name", "Left out: index.html")
    assert [n for n in notes if not any(h in n for h in harmless)] == []


@pytest.mark.parametrize("name", [name for name in EXPORTS if EXPORTS[name].times])
def test_the_platforms_time_is_kept_as_nbgrader_keeps_it(course, tmp_path, name):
    (course.root / "deadlines.toml").write_text('zone = "Europe/Berlin"\n')
    export = EXPORTS[name]
    collect(course, [put(tmp_path, "zip", export.files)])
    for student, time in export.times.items():
        stamp = course.path("submitted", student, LESSON) / "timestamp.txt"
        assert stamp.read_text().startswith(time) and stamp.read_text().endswith(" UTC")


@pytest.mark.parametrize("name", ["Canvas", "GitHub"])
def test_where_the_date_is_only_the_downloads_no_time_is_made_up(course, tmp_path, name):
    export = EXPORTS[name]
    collect(course, [put(tmp_path, "folder", export.files)])
    assert not (course.path("submitted", export.ada_key, LESSON) / "timestamp.txt").exists()


def imitations(prefix: str, key: str) -> dict[str, dict]:
    """Return what B may hand in to be taken for Ada, whose label is `prefix`."""
    label = prefix.rstrip("/").rpartition("/")[2]
    yml = f"x:\n  :submitters:\n  - :name: A\n    :sid: '{key}'\n    :email: a@b.c\n"
    return {
        "a file's name": {f"{label}{WORK}": "B"},
        "a folder": {f"{label}/{WORK}": "B"},
        "the whole layout": {f"{prefix}{WORK}": "B"},
        "the key": {f"{key}_{WORK}": "B"},
        "a zip's name": {f"{label}warm_up.zip": packed({WORK: "B"}, day=9)},
        "a zip with the layout": {"all.zip": packed({f"{prefix}{WORK}": "B"}, day=9)},
        "a zip in a zip": {"a.zip": packed({"b.zip": packed({f"{prefix}{WORK}": "B"})})},
        "a yml of one's own": {"submission_metadata.yml": yml, f"x/{WORK}": "B"},
        "a timestamp": {"timestamp.txt": "2000-01-01 00:00:00.0 UTC", WORK: "B"},
    }


WAYS = list(imitations("", ""))
FLAT = ("Canvas", "Blackboard")  # nothing but files: a learner can hand in no folder
HERE = [
    (name, way, "folder" if name == "GitHub" else "zip")
    for name in EXPORTS
    for way in WAYS
    if not (name in FLAT and way in ("a folder", "a yml of one's own", "a timestamp"))
]


@pytest.mark.parametrize("whose", [*EXPORTS])
@pytest.mark.parametrize(("name", "way", "kind"), HERE)
def test_what_a_learner_chose_never_makes_a_work_anothers(course, tmp_path, name, way, kind, whose):
    export, imitated = EXPORTS[name], EXPORTS[whose]
    key = export.ada_key if whose == name else imitated.ada_key
    chosen = imitations(imitated.ada, key)[way]
    if name in FLAT and way == "the whole layout":
        chosen = {next(iter(chosen)).replace("/", "_"): "B"}
    inside = {f"{export.bob}{file}": text for file, text in chosen.items()}
    if name == "GitHub":
        inside["warm-up-bob/.git/config"] = GIT_CONFIG.format("warm-up-bob")
    collect(course, [put(tmp_path, kind, {**export.files, **inside}, inside)])
    got = {student: text for (student, _), text in handed_in(course).items()}
    assert got[export.ada_key] == "Ada"
    assert got[export.bob_key] == "B"
    assert got.keys() == {*export.learners, export.bob_key}
