"""Tell of what is not taken: notebooks without a lesson, learners without a notebook, strays."""

from autograder.course.course import Course
from autograder.course.work import Work


def told(course: Course, works: list[Work], notes: list[str]) -> set[str]:
    """Note what cannot be taken from one download; return the learners who get a row by it."""
    lessons, met = course.lessons, set()
    notebooks = [w for w in works if w.arrival.is_notebook]
    for work in notebooks:
        if work.lesson and work.lesson not in lessons:
            notes.append(
                f"{work.arrival.path}: left out, {work.lesson} is no lesson of this course. "
                f"To add it: python -m autograder init {course.root} {work.lesson}"
            )
        elif not (work.student and work.lesson):
            missing = "whose it is" if work.lesson else "which lesson it is"
            notes.append(f"{work.arrival.path}: left out, the name does not say {missing}.")
        else:
            continue
        if work.student:
            met.add(work.student)
    for student, names in _others(works, notebooks).items():
        some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        if student:
            met.add(student)
        notes.append(f"{student}: no notebook, only {some}." if student else f"Left out: {some}.")
    return met


def _others(works: list[Work], notebooks: list[Work]) -> dict[str, list[str]]:
    """Return the names of files that lie beside no notebook, by learner."""
    places = {w.arrival.path.parent for w in notebooks}
    around = {folder for place in places for folder in (place, *place.parents)}
    has = {(w.student, w.lesson) for w in notebooks} | {(w.student, None) for w in notebooks}
    others: dict[str, list[str]] = {}
    for work in works:
        if work.arrival.is_notebook or (work.student and (work.student, work.lesson) in has):
            continue
        # a folder with notebooks in it, below it or around it is no learner's own
        inner = places.difference(work.arrival.outer)
        beside = work.folder and (work.folder in around or {*work.folder.parents} & inner)
        if not beside:
            others.setdefault(work.student or "", []).append(work.arrival.path.name)
    return others
