"""A made-up class, exported by each platform in its real layout; who described it stands there.

Ada and Zoë handed in; Zoë's name has an accent, a comma and quotes where the platform allows them;
two people are called Li Wei; Max left the class, and his work is still in the export.
"""

from dataclasses import dataclass, field

from exported import packed

WORK = "warm_up.ipynb"


@dataclass
class Export:
    """The files of an export, whom a collecting must find, and how a learner B looks in it."""

    files: dict[str, str | bytes]
    learners: set[str]
    ada: str  # what the platform writes before, or around, Ada's file
    bob: str
    bob_key: str
    ada_key: str
    times: dict[str, str] = field(default_factory=dict)  # UTC, the course's zone being Berlin


# smithbob_340934_208490284_BobsWork.zip: the README of the repository mikewesthad/canvas-unzipper;
# `_LATE_`: Canvas's own content_zipper.rb
CANVAS = Export(
    {
        f"lovelaceada_101_9001_{WORK}": "Ada",
        f"obrienzoë_LATE_102_9002_{WORK}": "Zoë",
        f"liwei_103_9003_{WORK}": "Li 1",
        f"liwei_104_9004_{WORK}": "Li 2",
        "maxleft_105_9005_all.zip": packed({WORK: "Max"}),
    },
    {"lovelaceada_101", "obrienzoë_102", "liwei_103", "liwei_104", "maxleft_105"},
    "lovelaceada_101_9001_",
    "bobbob_110_9010_",
    "bobbob_110",
    "lovelaceada_101",
)

# Full Name_ID_assignsubmission_file_: Moodle's mod/assign/locallib.php, download_submissions
MOODLE = Export(
    {
        f"Ada Lovelace_11_assignsubmission_file_/{WORK}": "Ada",
        f"Zoë O'Brien, Dr._12_assignsubmission_file_/{WORK}": "Zoë",
        f"Li Wei_13_assignsubmission_file_/{WORK}": "Li 1",
        f"Li Wei_14_assignsubmission_file_/{WORK}": "Li 2",
        f"Max Left_15_assignsubmission_file_/{WORK}.txt": "Max",
    },
    {"Ada_Lovelace", "Zoë_O_Brien_Dr", "Li_Wei_13", "Li_Wei_14", "Max_Left"},
    "Ada Lovelace_11_assignsubmission_file_/",
    "Bob Bob_20_assignsubmission_file_/",
    "Bob_Bob",
    "Ada_Lovelace",
)

# `:submitters:` with `:name:`, `:sid:`, `:email:` below the folder's name, in a folder that is
# called assignment_N_export: gists m13253/f3e418a5 (script) and many others that read it;
# `:created_at:` with an offset
GRADESCOPE_YML = """\
---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '100'
    :email: ada@uni.example
  :created_at: 2027-03-26 14:59:00.000000000 -07:00
  :score: 0.0
submission_2:
  :submitters:
  - :name: 'Zoë O''Brien, "Dr."'
    :sid: '101'
    :email: zoe@uni.example
  - :name: Li Wei
    :sid: '102'
    :email: li1@uni.example
  :created_at: 2027-03-26 22:30:00.000000000 Z
submission_3:
  :submitters:
  - :name: Li Wei
    :sid:
    :email: li2@uni.example
  :created_at: 2027-03-26 10:00:00.000000000 Z
submission_4:
  :submitters:
  - :name: Max Left
    :sid: '105'
    :email: max@uni.example
submission_9:
  :submitters:
  - :name: Bob Bob
    :sid: '109'
    :email: bob@uni.example
"""
GRADESCOPE = Export(
    {
        "assignment_77_export/submission_metadata.yml": GRADESCOPE_YML,
        f"assignment_77_export/submission_1/{WORK}": "Ada",
        f"assignment_77_export/submission_2/{WORK}": "Zoë and Li",
        f"assignment_77_export/submission_3/{WORK}": "Li 2",
        f"assignment_77_export/submission_4/{WORK}": "Max",
    },
    {"100", "101", "102", "li2@uni.example", "105"},
    "assignment_77_export/submission_1/",
    "assignment_77_export/submission_9/",
    "109",
    "100",
    {"100": "2027-03-26 21:59:00", "102": "2027-03-26 22:30:00"},
)

# assignmentname_username_attempt_datetime_filename.ext, and a .txt for each: the README of the
# repository kwurst/bb-file-cleanup; the same form in nbgrader's own help for zip_collect
BLACKBOARD = Export(
    {
        f"HW 1_alovelace_attempt_2027-03-26-23-30-00_{WORK}": "Ada",
        "HW 1_alovelace_attempt_2027-03-26-23-30-00.txt": "Name: Ada Lovelace (alovelace)\n",
        f"HW 1_alovelace_attempt_2027-03-25-08-00-00_{WORK}": "Ada's first",
        f"HW 1_zoe_o_attempt_2027-03-27-00-10-00_{WORK}": "Zoë",
        "HW 1_zoe_o_attempt_2027-03-27-00-10-00.txt": "Name: Zoë O'Brien, Dr. (zoe_o)\nx\n",
        f"HW 1_lwei1_attempt_2027-03-26-10-00-00_{WORK}": "Li 1",
        f"HW 1_lwei2_attempt_2027-03-26-10-00-00_{WORK}": "Li 2",
        f"HW 1_mleft_attempt_2027-03-26-10-00-00_{WORK}": "Max",
    },
    {"alovelace", "zoe_o", "lwei1", "lwei2", "mleft"},
    "HW 1_alovelace_attempt_2027-03-26-23-30-00_",
    "HW 1_bbob_attempt_2027-03-26-11-00-00_",
    "bbob",
    "alovelace",
    {"alovelace": "2027-03-26 22:30:00", "zoe_o": "2027-03-26 23:10:00"},
)

# 397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM: a public script for Brightspace's
# downloads, rename_and_move.sh; index.html lies beside the folders
BRIGHTSPACE = Export(
    {
        "index.html": "<html>",
        f"301-77 - Ada Lovelace - Mar 26, 2027 1130 PM/{WORK}": "Ada",
        f"301-77 - Ada Lovelace - Mar 25, 2027 926 PM/{WORK}": "Ada's first",
        f"302-77 - Zoë O'Brien, Dr. - Mar 27, 2027 1210 AM/{WORK}": "Zoë",
        f"303-77 - Li Wei - Mar 26, 2027 900 AM/{WORK}": "Li 1",
        f"304-77 - Li Wei - Mar 26, 2027 901 AM/{WORK}": "Li 2",
        f"305-77 - Max Left - Mar 26, 2027 902 AM/{WORK}": "Max",
    },
    {"Ada_Lovelace", "Zoë_O_Brien_Dr", "Li_Wei_303-77", "Li_Wei_304-77", "Max_Left"},
    "301-77 - Ada Lovelace - Mar 26, 2027 1130 PM/",
    "310-77 - Bob Bob - Mar 26, 2027 800 AM/",
    "Bob_Bob",
    "Ada_Lovelace",
    {"Ada_Lovelace": "2027-03-26 22:30:00", "Zoë_O_Brien_Dr": "2027-03-26 23:10:00"},
)

# assignment-user in assignment-submissions/, one checkout each: GitHub's documentation on
# Classroom and its command line
GIT_CONFIG = '[remote "origin"]\n\turl = https://github.com/uni-class/{}.git\n'
GITHUB = Export(
    {
        f"{name}/{file}": text
        for name, who in {
            "warm-up-ada-l": "Ada",
            "warm-up-zoe": "Zoë",
            "warm-up-liwei1": "Li 1",
            "warm-up-liwei2": "Li 2",
            "warm-up-max": "Max",
        }.items()
        for file, text in {WORK: who, ".git/config": GIT_CONFIG.format(name)}.items()
    },
    {"ada-l", "zoe", "liwei1", "liwei2", "max"},
    "warm-up-ada-l/",
    "warm-up-bob/",
    "bob",
    "ada-l",
)

# {nbgrader_step}/{student_id}/{assignment_id}/{notebook_id}.ipynb: nbgrader's documentation, "How
# to structure course files"; ngshare_exchange's collecting writes the same
SUBMITTED = Export(
    {
        f"submitted/{who}/warm_up/{file}": text
        for who, name in {
            "ada": "Ada",
            "zoë": "Zoë",
            "liwei1": "Li 1",
            "liwei2": "Li 2",
            "max": "Max",
        }.items()
        for file, text in {WORK: name, "timestamp.txt": "2027-03-26 22:30:00.5 UTC\n"}.items()
    },
    {"ada", "zoë", "liwei1", "liwei2", "max"},
    "submitted/ada/warm_up/",
    "submitted/bob/warm_up/",
    "bob",
    "ada",
    {"ada": "2027-03-26 22:30:00"},
)

# user+assignment+timestamp[+random]: nbgrader/exchange/default/collect.py and submit.py
EXCHANGE = Export(
    {
        f"inbound/{name}/{file}": who
        for name, who in {
            "ada+warm_up+2027-03-26 22:30:00.123456 UTC+aB3": "Ada",
            "ada+warm_up+2027-03-20 08:00:00.123456 UTC+aB3": "Ada's first",
            "zoë+x+warm_up+2027-03-26 23:10:00.123456 UTC": "Zoë",
            "liwei1+warm_up+2027-03-26 22:30:00.123456 UTC+aB3": "Li 1",
            "liwei2+warm_up+2027-03-26 22:30:00.123456 UTC+aB3": "Li 2",
            "max+warm_up+2027-03-26 22:30:00.123456 UTC+aB3": "Max",
        }.items()
        for file in (WORK, "timestamp.txt")
    },
    {"ada", "zoë_x", "liwei1", "liwei2", "max"},
    "inbound/ada+warm_up+2027-03-26 22:30:00.123456 UTC+aB3/",
    "inbound/bob+warm_up+2027-03-26 22:00:00.123456 UTC+aB3/",
    "bob",
    "ada",
    {"ada": "2027-03-26 22:30:00", "zoë_x": "2027-03-26 23:10:00"},
)

EXPORTS = {
    "Canvas": CANVAS,
    "Moodle": MOODLE,
    "Gradescope": GRADESCOPE,
    "Blackboard": BLACKBOARD,
    "Brightspace": BRIGHTSPACE,
    "GitHub": GITHUB,
    "nbgrader": SUBMITTED,
    "the exchange": EXCHANGE,
}
