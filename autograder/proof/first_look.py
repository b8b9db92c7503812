"""The first look at a lesson: what is dead is told in seconds, before anything long is tried.

Dead is what proves nothing and says nothing: a case in which the reference itself raises, a part
that no case counts for, a probe that cannot be sent behind the wall, an exercise without slips, a
notebook that cannot be made or that ends in a NameError.
"""

import ast
import inspect
import symtable
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from autograder.checks.marking import mark
from autograder.checks.question import ROUTES, VISIBLE, Case, Choice, Conclusion, Exercise, Lesson
from autograder.checks.reference import DRAWS, asked
from autograder.errors import ReleaseError
from autograder.lessons import files, nearest
from autograder.release.names import unbound
from autograder.release.notebooks import author
from autograder.repository import ROOT
from autograder.seam.probe import quiet
from autograder.seam.wire import Raised

Question = Exercise | Choice | Conclusion
SEED = "verify 0"  # the first of those that the long work tries


def first_look(lesson: Lesson) -> list[str]:
    """Return a sentence for everything that is dead."""
    told = []
    for question in lesson.questions:
        file = _file(lesson, question)
        if isinstance(question, Exercise):
            wrong = [*_parts(question), *_slips(question), *_probes(question.cases)]
            told += _placed(lesson, question, file, wrong or list(_reference(lesson, question)))
        elif isinstance(question, Conclusion):
            told += _placed(lesson, question, file, list(_probes([question])))
        elif question.right not in question.answers:
            text = f"the right answer {question.right!r} is not among the answers"
            told += _placed(lesson, question, file, [("", text)])
    try:
        author(lesson.name)
    except ReleaseError as problem:
        told.append(str(problem))
    return told


def _placed(
    lesson: Lesson, question: Question, file: Path | None, wrong: list[tuple[object, str]]
) -> list[str]:
    """Put the place before each sentence: the line on which its word, or the question, stands."""
    return [f"{_place(file, sign)}{lesson.name}.{question.name}: {text}" for sign, text in wrong]


def _file(lesson: Lesson, question: Question) -> Path | None:
    """Return the file in which a question is written."""
    for path in files(lesson.name):
        module = sys.modules.get(f"autograder.lessons.{lesson.name}.{path.stem}")
        if getattr(module, "QUESTION", None) is question:
            return path
    return None


def _place(file: Path | None, sign: object) -> str:
    if inspect.isfunction(sign):
        file, line = Path(sign.__code__.co_filename), sign.__code__.co_firstlineno
    elif file is not None:
        line = _line(file, sign)
    else:
        return ""
    shown = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
    return f"{shown}:{line}: "


def _line(file: Path, sign: object) -> int:
    """Return the line on which a text stands in the code, or on which the question begins."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    texts = [n.lineno for n in nodes if isinstance(n, ast.Constant) and n.value == sign]
    questions = [
        n.lineno
        for n in nodes
        if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "QUESTION"
    ]
    return min(texts) if sign and texts else questions[0]


def _parts(exercise: Exercise) -> Iterator[tuple[object, str]]:
    known = list(exercise.parts)
    for case in exercise.cases:
        if case.part not in known:
            what = f"the case {case.about!r} counts for {case.part!r}, which is no part of it"
            yield case.part, f"{what}. {nearest(case.part, known)}"
    counted = {case.part for case in exercise.cases}
    for part in known:
        if part not in counted and part not in ROUTES.values():
            yield part, f"no case counts for the part {part!r}"
    for (part, about), n in Counter((c.part, c.about) for c in exercise.cases).items():
        if n > 1:
            yield about, f"two cases of {part!r} are called {about!r}; name one of them anew"


def _slips(exercise: Exercise) -> Iterator[tuple[object, str]]:
    if not exercise.slips:
        yield "", "it has no slips, so no mistake in it can be named; write those that are likely"


def _probes(observed: list) -> Iterator[tuple[object, str]]:
    for probe in dict.fromkeys(one.probe for one in observed):
        name = getattr(probe, "__name__", repr(probe))
        for text in faults(probe):
            yield probe, f"the probe {name} {text}"


def faults(probe: Callable) -> list[str]:
    """Say why a probe's text would not run by itself, which is what happens behind the wall."""
    if not inspect.isfunction(probe):
        return ["is no plain function, so it has no text to be sent behind the wall"]
    text = inspect.getsource(probe)
    try:
        names = set(symtable.symtable(text, "a probe", "exec").get_identifiers())
    except SyntaxError:
        names = set()
    if probe.__name__ not in names or probe.__closure__:
        return ["is written inside something else; put it at the top level of its file"]
    return [
        f"reads the global {name!r}, and behind the wall there is none; import it in the body"
        for _, name in unbound([text])
    ]


def _reference(lesson: Lesson, exercise: Exercise) -> Iterator[tuple[object, str]]:
    wrong = raising(exercise, None) or raising(exercise, SEED)
    yield from wrong
    if not wrong:
        result = mark(lesson, exercise.name, dict(vars(exercise.module)))
        for part in result.parts:
            if not part.passed:
                yield part.name, f"the reference itself loses {part.name!r}: {part.found}"


def raising(exercise: Exercise, seed: str | None) -> list[tuple[str, str]]:
    """Return the cases in which the reference itself raises: any answer that raises passes them."""
    on = "" if seed is None else f", drawn from the seed {seed!r}"
    with quiet():
        try:
            seen = [(case.about, given.value) for case, _, given, _ in asked(exercise, seed)]
        except Exception as error:
            about = next((c.about for c in exercise.cases if not _drawable(c, exercise, seed)), "")
            text = f"the inputs of {about!r} cannot be drawn{on}: {type(error).__name__}: {error}"
            return [(about, text.splitlines()[0])]
    wrong: dict[str, str] = {}
    for about, value in seen:
        if isinstance(value, Raised):
            said = f"{value.type_name}: {value.text}".splitlines()[0]
            wrong[about] = f"the reference itself raises in {about!r}{on}: {said}"
    return list(wrong.items())


def _drawable(case: Case, exercise: Exercise, seed: str | None) -> bool:
    drawn = [(seed, i) for i in range(DRAWS)] if seed is not None else []
    try:
        return all(case.inputs(exercise.name, s, i) for s, i in [(VISIBLE, 0), *drawn])
    except Exception:
        return False
