"""A roster says who is in the class: all of them have a row, and nobody else is taken silently."""

import pytest
from exported import handed_in, laid, zipped
from made_up import BLACKBOARD, BRIGHTSPACE, CANVAS, EXPORTS, GRADESCOPE, MOODLE
from submissions import LESSON

from autograder.__main__ import main
from autograder.course.collect import gather
from autograder.course.platforms.label import Learner
from autograder.course.roster import kept_roster, read_roster
from autograder.course.table import lines
from autograder.errors import CourseError

# Canvas's gradebook export, with its second line of points and its test student; the header is as
# public programs that read it have it (Student, ID, SIS User ID, SIS Login ID, Section)
CANVAS_CSV = """\
Student,ID,SIS User ID,SIS Login ID,Section,warm_up (55)
    Points Possible,,,,,100
"Lovelace, Ada",101,S100,alovelace,A,
"O'Brien, Zoë",102,S101,zoe_o,A,
"Li, Wei",103,S102,lwei1,B,
"Li, Wei",104,S103,lwei2,B,
"Quiet, Quin",106,S106,qq,B,
"Student, Test",999,,test,A,
"""
# Moodle's grading worksheet (Identifier, Full name, ID number, Email address, ...)
MOODLE_CSV = """\
\ufeffIdentifier,"Full name","Email address",Status,Group,Grade
"Participant 11","Ada Lovelace",ada@uni.example,Submitted,"Tutorial 1",
"Participant 12","Zoë O'Brien, Dr.",zoe@uni.example,Submitted,"Tutorial 1",
"Participant 13","Li Wei",li1@uni.example,Submitted,"Tutorial 1",
"Participant 14","Li Wei",li2@uni.example,Submitted,"Tutorial 1",
"Participant 16","Quin Quiet",qq@uni.example,"No submission","Tutorial 1",
"""
OWN_CSV = """\
id;name;e-mail;SIS id;section;extra days;group
ada;Ada Lovelace;ada@uni.example;100;A;;
zoe;"Zoë O'Brien, Dr.";zoe@uni.example;101;A;2;
li1;Li Wei;li1@uni.example;102;B;;
li2;Li Wei;li2@uni.example;103;B;;
qq;"Quin ""Q."" Quiet";qq@uni.example;106;B;;
"""


def written(tmp_path, text: str):
    path = tmp_path / "class.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("export", "csv", "there", "missing"),
    [
        (
            CANVAS,
            CANVAS_CSV,
            {"lovelaceada_101", "obrienzoë_102", "liwei_103", "liwei_104"},
            "quietquin_106",
        ),
        (
            MOODLE,
            MOODLE_CSV,
            {
                *("Ada_Lovelace", "Zoë_O_Brien_Dr"),
                *("Li_Wei_li1@uni.example", "Li_Wei_li2@uni.example"),  # the same in all lessons
            },
            "Quin_Quiet",
        ),
        (GRADESCOPE, OWN_CSV, {"ada", "zoe", "li1", "li2"}, "qq"),
    ],
)
def test_everybody_in_it_has_a_row_and_who_left_is_asked_about(
    course, tmp_path, export, csv, there, missing
):
    path = zipped(tmp_path / "e.zip", export.files)
    harvest = gather(course, [path], written(tmp_path, csv))
    assert {student for student, _ in handed_in(course)} == there
    assert set(course.students()) == {*there, missing}
    assert harvest.missing == [(missing, LESSON)]
    assert {w.doubt for w in harvest.doubtful} == {"not in the roster"}
    assert all("ax" in w.student or w.student == "105" for w in harvest.doubtful)  # Max left


def test_names_that_two_people_share_are_doubtful_unless_a_number_tells(course, tmp_path):
    path = zipped(tmp_path / "e.zip", BRIGHTSPACE.files)
    harvest = gather(course, [path], written(tmp_path, OWN_CSV))
    assert {student for student, _ in handed_in(course)} == {"ada", "zoe"}
    assert sorted({w.doubt for w in harvest.doubtful}) == [
        "not in the roster",
        "two or more in the roster are called Li Wei",
    ]


def test_without_a_roster_look_alikes_stay_apart_and_a_roster_joins_them(course, tmp_path):
    files = {"Zoë O'Brien, Dr./warm_up.ipynb": "1", "zoe@uni.example/warm_up.ipynb": "2"}
    path = zipped(tmp_path / "e.zip", files, late={"zoe@uni.example/warm_up.ipynb": 9})
    gather(course, [path])
    assert len(handed_in(course)) == 2
    gather(course, [path], written(tmp_path, OWN_CSV))
    assert handed_in(course)["zoe", LESSON] == "2"


def test_the_roster_is_kept_and_used_again(course, tmp_path):
    first = zipped(tmp_path / "e.zip", CANVAS.files)
    gather(course, [first], written(tmp_path, CANVAS_CSV))
    kept = kept_roster(course)
    assert [p.key for p in kept.people][:1] == ["lovelaceada_101"]
    assert kept.find(Learner("x", ("lwei2",)))[0].key == "liwei_104"
    harvest = gather(course, [zipped(tmp_path / "n.zip", {"ghost_9_9_warm_up.ipynb": "?"})])
    assert [w.student for w in harvest.doubtful] == ["ghost_9"] and not harvest.taken


def test_a_roster_without_extra_days_and_groups_forgets_none(course, tmp_path):
    path = zipped(tmp_path / "e.zip", {"ada_warm_up.ipynb": "1"})
    gather(
        course, [path], written(tmp_path, "id,name,extra days,group\nada,Ada,2,g\nbob,Bob,0,g\n")
    )
    gather(course, [path], written(tmp_path, "id,name\nada,Ada L.\nbob,Bob\n"))
    ada = kept_roster(course).people[0]
    assert (ada.name, ada.extra_days, ada.group) == ("Ada L.", 2.0, "g")
    gather(course, [path], written(tmp_path, "id,name,extra days,group\nada,Ada,,\n"))
    ada = kept_roster(course).people[0]
    assert (ada.extra_days, ada.group) == (0.0, "")


def test_a_folder_that_the_roster_knows_beats_the_files_name_inside(course, tmp_path):
    root = laid(tmp_path / "hw", {"li1/ada_warm_up.ipynb": "Li's"})
    gather(course, [root], written(tmp_path, OWN_CSV))
    assert handed_in(course) == {("li1", LESSON): "Li's"}


def test_a_groups_work_is_everybodys(course, tmp_path):
    csv = "id,name,group\nada,Ada,g1\nbob,Bob,g1\ncarl,Carl,\n"
    files = {"ada_warm_up.ipynb": "old", "bob_warm_up.ipynb": "new", "carl_warm_up.ipynb": "c"}
    path = zipped(tmp_path / "e.zip", files, late={"bob_warm_up.ipynb": 5})
    gather(course, [path], written(tmp_path, csv))
    got = {student: text for (student, _), text in handed_in(course).items()}
    assert got == {"ada": "new", "bob": "new", "carl": "c"}


def test_moodles_tutorials_are_no_groups_that_share_work(course, tmp_path):
    roster = read_roster(written(tmp_path, MOODLE_CSV))
    assert roster.companions("Ada_Lovelace") == ["Ada_Lovelace"]


def test_moodles_group_before_a_name_is_seen_through(course, tmp_path):
    roster = read_roster(written(tmp_path, MOODLE_CSV))
    assert roster.find(Learner("x", (), "Group 1-Ada Lovelace"))[0].key == "Ada_Lovelace"
    assert roster.find(Learner("x", (), "Ada"))[0] is None


def test_a_number_that_is_anothers_by_chance_does_not_beat_the_name(tmp_path):
    roster = read_roster(written(tmp_path, "id,name\n301,Bob Bob\n302,Ada Lovelace\n"))
    found = roster.find(Learner("x", ("301", "301-77"), "Ada Lovelace"))  # Brightspace's 301
    assert found == (None, "in the roster 301 is somebody else than Ada Lovelace")
    assert roster.find(Learner("x", ("301",), "Bobby"))[0].name == "Bob Bob"


def test_the_same_number_of_two_people_is_nobodys(tmp_path):
    roster = read_roster(written(tmp_path, "id,name,sis id\n7,A A,1\n8,B B,7\n"))
    assert roster.find(Learner("x", ("7",), "A A")) == (
        None,
        "two or more in the roster have 7",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "is no roster: its first line needs id, name or e-mail"),
        ("", "is no roster"),
        ("id,name,extra days\n1,Ada,two\n", "extra days of Ada must be a number, not 'two'"),
        ("name\nLi Wei\nLi Wei\n", "two or more are Li_Wei, and nothing tells them apart"),
    ],
)
def test_a_table_that_is_no_roster_gets_a_sentence(tmp_path, text, message):
    with pytest.raises(CourseError, match=message):
        read_roster(written(tmp_path, text))


def test_a_dry_run_prints_the_table_and_takes_nothing(course, tmp_path, capsys):
    path = zipped(tmp_path / "e.zip", {**CANVAS.files, "evil\x1b[2J_7_8_warm_up.ipynb": "?"})
    csv = written(tmp_path, CANVAS_CSV)
    before = sorted(course.root.rglob("*"))
    command = ["collect", str(course.root), str(path), "--roster", str(csv), "--dry-run"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert sorted(course.root.rglob("*")) == before
    rows = [line.split() for line in printed.splitlines()]
    assert ["taken", "lovelaceada_101", LESSON] in [row[:3] for row in rows]
    assert ["doubtful", "maxleft_105", LESSON] in [row[:3] for row in rows]
    assert ["missing", "quietquin_106", LESSON] in [row[:3] for row in rows]
    assert "4 submissions of 4 learners would be collected." in printed and "\x1b" not in printed
    assert main(command[:-1]) == 0
    assert {s for s, _ in handed_in(course)} > {"lovelaceada_101"}


@pytest.mark.parametrize("name", [*EXPORTS])
def test_the_table_says_by_whose_word_a_work_is_somebodys(course, tmp_path, name):
    root = laid(tmp_path / "export", EXPORTS[name].files)
    table = lines(gather(course, [root], dry_run=True))
    platform = "nbgrader" if name == "the exchange" else name
    taken = [line for line in table if line.startswith("taken")]
    assert len(taken) == len(EXPORTS[name].learners)
    assert all(line.endswith(f"{platform}'s name") for line in taken)


def test_blackboards_users_are_the_rosters_logins(course, tmp_path):
    csv = "id,name,login\n1,Ada,alovelace\n2,Zoë,zoe_o\n"
    gather(course, [zipped(tmp_path / "e.zip", BLACKBOARD.files)], written(tmp_path, csv))
    assert {student for student, _ in handed_in(course)} == {"1", "2"}
