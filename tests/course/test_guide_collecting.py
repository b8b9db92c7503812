"""What the instructor's guide says of collecting is so."""

import os
import pwd
import re

import pytest
from exported import laid
from made_up import GIT_CONFIG
from submissions import LESSON

from autograder.course.collect import gather
from autograder.course.deadlines import EXAMPLE
from autograder.course.roster import read_roster
from autograder.repository import ROOT

GUIDE = (ROOT / "book" / "guide_instructors.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*?) ?\| `(.+?\.ipynb)` \| `(.+?)` \|$", GUIDE, flags=re.MULTILINE)
YML = "submission_42:\n  :submitters:\n  - :name: Jane Doe\n    :sid: '2027001'\n"


def test_the_guide_has_a_row_for_every_platform():
    assert len(ROWS) == 10
    told = " ".join(platform for platform, _, _ in ROWS)
    for name in (
        "Canvas",
        "Moodle",
        "Gradescope",
        "Blackboard",
        "Brightspace",
        "GitHub",
        "ngshare",
    ):
        assert name in told


@pytest.mark.parametrize(("platform", "path", "learner"), ROWS)
def test_the_guides_examples_are_collected_as_it_says(course, tmp_path, platform, path, learner):
    root = laid(tmp_path / "inbox", {path: "{}"})
    if platform == "Gradescope":
        laid(root, {"assignment_9_export/submission_metadata.yml": YML})
    if platform == "GitHub":
        laid(root, {"warm-up-jdoe/.git/config": GIT_CONFIG.format("warm-up-jdoe")})
    harvest = gather(course, [root])
    assert list(harvest.taken) == [(learner, LESSON)] and harvest.notes == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another account")
def test_a_folder_in_the_exchange_that_belongs_to_another_account_is_not_taken(course, tmp_path):
    when = "2027-03-26 22:30:00.123456 UTC"
    files = {f"inbound/{who}+warm_up+{when}/warm_up.ipynb": who for who in ("daemon", "ada")}
    root = laid(tmp_path / "exchange", files)
    other = pwd.getpwnam("daemon")
    for path in (root / "inbound").rglob("*"):
        os.chown(path, other.pw_uid, other.pw_gid)
    harvest = gather(course, [root])
    assert list(harvest.taken) == [("daemon", LESSON)] and course.students() == ["daemon"]
    assert [(w.student, w.doubt) for w in harvest.doubtful] == [
        ("ada", "the folder belongs to daemon")
    ]


def test_the_guides_roster_and_deadlines_can_be_used(tmp_path):
    assert EXAMPLE in GUIDE
    table = re.search(r"^id,name,.*\n.*\n", GUIDE, flags=re.MULTILINE)[0]
    path = tmp_path / "class.csv"
    path.write_text(table, encoding="utf-8")
    [jane] = read_roster(path).people
    assert (jane.key, jane.extra_days, jane.section, jane.group) == ("jdoe", 2, "A", "")
    assert {"2027001", "jane-d"} <= {*jane.ids}
