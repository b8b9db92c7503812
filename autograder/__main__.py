"""The commands: python -m autograder init|release|collect|grade|report|export|demo|verify|..."""

import argparse
import contextlib
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.course.course import Course
    from autograder.running.runner import Runner

# An optional package of jsonschema's that builds a grammar for two seconds when it is imported; it
# would check web addresses in a schema, and a notebook's schema asks for none.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type] # None: do not import it

EPILOG = """\
a course from first to last:
  python -m autograder init my_course            make the folder; nbgrader works in it too
  python -m autograder collect my_course work.zip
  python -m autograder grade my_course           grades.csv, feedback/, class_report.html
  python -m autograder demo                      the same with a made-up class, to look around
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command; a mistake of the user's gets a sentence and the exit code 2."""
    from autograder.errors import CourseError, ReleaseError, UnknownLesson, WallError

    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["verify"]:
        from autograder.proof.verify import main as verify

        return verify(argv[1:])
    options = _parser().parse_args(argv)
    try:
        with _alone(options):
            options.run(options)
    except (CourseError, ReleaseError, UnknownLesson, WallError) as problem:
        return _refuse(problem)
    except KeyboardInterrupt:
        print("autograder: stopped. What was graded so far is kept.", file=sys.stderr)
        return 130
    except Exception as problem:
        if sentence := _trouble(problem, options):
            return _refuse(sentence)
        raise
    return 0


def _alone(options: argparse.Namespace) -> contextlib.AbstractContextManager:
    """Have the course to oneself while a command writes to it."""
    name = options.run.__name__
    root = getattr(options, "dir", None)
    if root is None or name == "demo" or not (root / "nbgrader_config.py").is_file():
        return contextlib.nullcontext()  # there is nothing yet that two could write to
    from autograder.course.lock import only_writer

    return only_writer(root, name)


def _trouble(problem: Exception, options: argparse.Namespace) -> str | None:
    """Say what is wrong with the disk, a file or the gradebook, if that is the cause."""
    from autograder.course.trouble import trouble

    if sentence := trouble(problem, getattr(options, "dir", Path())):
        return sentence
    if isinstance(problem, OSError) and problem.filename is not None:
        name = problem.filename2 or problem.filename  # of two, the one that was to be made
        return f"{name} cannot be used: {problem.strerror}."
    return None


def _refuse(problem: Exception | str) -> int:
    print(f"autograder: {problem}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m autograder",
        description="Release the course's notebooks, collect and grade the answers.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(run, text: str, folder: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(run.__name__, help=text, description=text)
        made.set_defaults(run=run)
        if folder:
            made.add_argument("dir", type=Path, metavar="DIR", help="the course's folder")
        return made

    made = command(init, "Make an nbgrader course folder, or refresh its source notebooks.")
    made.add_argument("lesson", nargs="*", metavar="LESSON", help="default: all lessons")
    made = command(collect, "Take submissions from folders, zips or notebooks into submitted/.")
    made.add_argument("path", nargs="+", type=Path, metavar="PATH")
    made.add_argument(
        "--roster", type=Path, metavar="CSV", help="who is in the class; others are only listed"
    )
    made.add_argument("--dry-run", action="store_true", help="print the table, take nothing")
    made = command(grade, "Grade what is in submitted/; write grades, feedback and the report.")
    made.add_argument("lesson", nargs="*", metavar="LESSON", help="default: all handed in")
    _limits(made)
    made = command(
        rebuild, "Make gradebook.db anew from results/ and marks.json; keep the old one beside it."
    )
    _limits(made)
    command(report, "Write class_report.html again, from the gradebook.")
    command(export, "Write grades.csv again, for example after grading written answers.")
    made = command(demo, "Make a course with a made-up class, and grade it.", folder=False)
    made.add_argument("dir", type=Path, nargs="?", default=Path("_build/course"), metavar="DIR")
    made.add_argument("lesson", nargs="*", metavar="LESSON", help="default: all lessons")
    command(release, "Write exercises/*.ipynb from exercises/*.md.", folder=False)
    commands.add_parser("verify", help="Prove that the checks are right.", add_help=False)
    return parser


def _limits(parser: argparse.ArgumentParser) -> None:
    some: dict[str, Any] = {"type": _at_least_one, "metavar": "N"}
    parser.add_argument("--timeout", default=30, help="seconds for a cell (30)", **some)
    parser.add_argument("--total", default=300, help="seconds for a notebook (300)", **some)
    parser.add_argument("--jobs", help="how many notebooks at a time (the cores)", **some)
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="run them on this Dask scheduler: tcp://host:8786"
    )
    parser.add_argument(
        "--no-sandbox", action="store_true", help="run learners' code unprotected, with your rights"
    )


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def init(options: argparse.Namespace) -> None:
    from autograder.course import course
    from autograder.lessons import must_exist

    for lesson in options.lesson:
        must_exist(lesson)
    made = course.init(options.dir, options.lesson or None)
    print(f"{made.root} is a course with the lessons {', '.join(made.lessons)}.")
    print(f"Keep {made.root / course.SEED_FILE} secret: the hidden cases are drawn from it.")


def collect(options: argparse.Namespace) -> None:
    from autograder.course.collect import gather
    from autograder.course.course import Course
    from autograder.course.table import lines

    harvest = gather(Course(options.dir), options.path, options.roster, options.dry_run)
    for note in harvest.notes:
        print(note)
    if options.dry_run or harvest.doubtful or harvest.missing:
        print(*lines(harvest, everything=options.dry_run), sep="\n")
    taken, would = harvest.taken, "would be " if options.dry_run else ""
    print(f"{len(taken)} submissions of {len({s for s, _ in taken})} learners {would}collected.")


def grade(options: argparse.Namespace) -> None:
    from autograder.course.course import Course

    course = Course(options.dir)
    named = {course.lesson(name) for name in options.lesson}
    lessons = [n for n in course.lessons if n in (named or course.begun)]
    if not lessons:
        print("Nobody has handed in anything yet: python -m autograder collect brings it in.")
    for name in course.others if not options.lesson else []:
        print(f"{name} is an assignment of your own; nbgrader autograde {name} grades it.")
    _grade(course, lessons, _runner(options))


def rebuild(options: argparse.Namespace) -> None:
    from autograder.course.course import Course
    from autograder.grading.rebuild import set_aside

    course = Course(options.dir)
    lessons = [name for name in course.lessons if name in course.begun]
    runner = _runner(options)
    if aside := set_aside(course, lessons):
        print(f"The gradebook that was here is kept as {aside.name}.")
    _grade(course, lessons, runner)


def _runner(options: argparse.Namespace) -> "Runner":
    """Return what runs the submissions: walls here, walls on a cluster, or nothing in between."""
    limits = {"timeout": options.timeout, "total": options.total}
    if options.cluster and options.no_sandbox:
        from autograder.errors import CourseError

        raise CourseError("--cluster runs submissions behind walls only: leave --no-sandbox out.")
    if options.cluster:
        from autograder.running.cluster import Cluster

        cluster = Cluster(options.cluster, **limits)
        cluster.meet()
        return cluster
    from autograder.running.side_by_side import SideBySide

    return SideBySide(options.jobs, walled=not options.no_sandbox, **limits)


def _grade(course: "Course", lessons: list[str], runner: "Runner") -> None:
    if lessons and not any(course.results.glob("*.json")):
        runner.warm(lessons[0])  # nothing is graded yet: it starts while torch is imported
    with contextlib.ExitStack() as stack:
        stack.callback(runner.rest)
        from autograder.grading.grade import grade, write_feedback
        from autograder.running.unprotected import UNPROTECTED

        if not runner.walled:
            print(UNPROTECTED)
        for lesson in lessons:
            start = time.perf_counter()
            records = grade(course, lesson, runner, pages=False)
            _tell(course, lesson, records, time.perf_counter() - start)
    _write_tables(course)  # before the pages: a grade waits for no drawing
    for lesson in lessons:
        for student, why in write_feedback(course, lesson, runner.n_jobs).items():
            print(f"  {lesson}, the feedback page of {student}: {why}")
    print(f"feedback:     {course.root / 'feedback'}")
    _tell_absent(course)


def _tell_absent(course: "Course") -> None:
    """Say which marks were given by hand once, and are not in the gradebook now."""
    from autograder.grading.marks_by_hand import MARKS_FILE, keep_marks

    if absent := keep_marks(course):
        listed = "; ".join(absent[:5]) + (" and more" if len(absent) > 5 else "")
        print(
            f"The gradebook lacks marks by hand that {MARKS_FILE} has; it may be an older copy "
            f"({listed}). To put them back: python -m autograder rebuild {course.root}. If you "
            f"took them back yourself, remove {course.root / MARKS_FILE}: it is written anew."
        )


def _tell(course, lesson: str, records: dict, seconds: float) -> None:
    """Print a line for each submission that needs a look, and how many there are of each status."""
    from autograder.course import status
    from autograder.report.export import rows

    handed_in = [r for r in records.values() if status.MISSING not in r.status]
    print(f"{lesson}: {len(handed_in)} submissions in {seconds:.0f} s.")
    for student, record in records.items():
        empty = record.notes == [f"No notebook for {lesson}."]
        if status.GRADED not in record.status and not empty:
            print(f"  {student}, {record.word}: {' '.join(record.notes)}")
    counts = Counter(fact for row in rows(course, lesson) for fact in row.facts)
    told = [f"{name} {counts[name]}" for name in status.ALL if counts[name]]
    mended = sum(bool(r.notes) for r in handed_in if status.GRADED in r.status)
    also = f"; mended before grading {mended} (grades.csv has the notes)" if mended else ""
    print(f"  {', '.join(told) or 'no learner yet'}{also}.")


def _write_tables(course) -> None:
    from autograder.course.private import make_private
    from autograder.report.class_report import write
    from autograder.report.export import write_csv

    print(f"grades:       {write_csv(course)}")
    print(f"class report: {write(course)}")
    make_private(course.root, course.is_shared)


def report(options: argparse.Namespace) -> None:
    from autograder.course.course import Course
    from autograder.report.class_report import write

    course = Course(options.dir)
    print(write(course))
    _tell_absent(course)


def export(options: argparse.Namespace) -> None:
    from autograder.course.course import Course
    from autograder.report.export import write_csv

    course = Course(options.dir)
    print(write_csv(course))
    _tell_absent(course)


def demo(options: argparse.Namespace) -> None:
    from autograder.course.sample import fresh_course
    from autograder.lessons import must_exist

    for lesson in options.lesson:
        must_exist(lesson)
    course = fresh_course(options.dir, options.lesson or None)
    from autograder.running.side_by_side import SideBySide

    _grade(course, course.lessons, SideBySide(timeout=5, total=60))


def release(_: argparse.Namespace) -> None:
    from autograder.release.notebooks import release_all

    for lesson, changed in release_all().items():
        print(f"exercises/{lesson}.ipynb: {'written' if changed else 'unchanged'}")


if __name__ == "__main__":
    sys.exit(main())
