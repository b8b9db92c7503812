"""Before grading: do a lesson's source and its checks ask the same questions?"""

import nbformat

from autograder.checks.cells import check_of, is_check
from autograder.course.course import Course
from autograder.errors import CourseError
from autograder.lessons import load


def agree(course: Course, lesson: str) -> None:
    """Stop, and name the command, where the source is of another version than the checks."""
    path = course.source(lesson)
    try:
        cells = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4).cells
    except Exception as problem:
        raise CourseError(
            f"{path} cannot be read ({type(problem).__name__}). Make it anew: "
            f"python -m autograder init {course.root} {lesson}"
        ) from None
    asked = [check for cell in cells if is_check(cell) and (check := check_of(cell.source))]
    here, known = {check.question for check in asked}, set(load(lesson).names)
    if here == known:
        return
    parts = [
        f"no check for {', '.join(sorted(here - known))}" if here - known else "",
        f"no cell for {', '.join(sorted(known - here))}" if known - here else "",
    ]
    raise CourseError(
        f"{path} is not of the version that would mark it: there is "
        f"{' and '.join(filter(None, parts))}. Nothing was graded. Bring the course up to date: "
        f"python -m autograder init {course.root} {lesson}"
    )
