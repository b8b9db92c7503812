"""Mark one question: run its cases, give points per part, say what went wrong and why."""

from collections.abc import Iterator
from typing import Any

from autograder.checks.code import Code, code_of
from autograder.checks.compare import Difference, difference
from autograder.checks.diagnosis import empty_body, matching_slips, picture
from autograder.checks.question import ARGUMENTS, ROUTES, Choice, Conclusion, Exercise, Lesson
from autograder.checks.reference import asked, reference_result
from autograder.checks.result import NOT_ALONE, NOT_REACHED, UNTRIED, Part, Result, Run
from autograder.seam.probe import MISSING, error_of, kind, quiet, value
from autograder.seam.wire import Died


def mark(lesson: Lesson, name: str, own: dict[str, Any] | Code, seed: str | None = None) -> Result:
    """Mark one answer in `own`; with a seed, also on cases drawn from it."""
    with quiet():  # inputs are drawn with torch's own defaults, not with the learner's
        return _mark(lesson, name, code_of(own), seed)


def _mark(lesson: Lesson, name: str, code: Code, seed: str | None) -> Result:
    question = lesson[name]
    found = code.observe(kind, (name,))
    if isinstance(found, Died):
        return _failed(lesson, question, f"the code did not finish: {found.how}")
    if found == MISSING:
        return _unanswered(lesson, question, code)
    if isinstance(question, Choice):
        return _mark_choice(lesson, question, code)
    if isinstance(question, Conclusion):
        return _mark_conclusion(lesson, question, code, graded=seed is not None)
    if wrong_kind := _wrong_kind(question, found):
        return _failed(lesson, question, wrong_kind)
    result, done = _mark_exercise(lesson, question, code, seed)
    if not result.passed:
        result, done = _mark_with_reference(lesson, question, code, seed, result, done)
    if not result.score and (text := empty_body(question, done)):
        return _failed(lesson, question, text)
    if not result.passed:
        slips = matching_slips(question, done)
        result.slips, result.reasons = [s.name for s in slips], [s.text for s in slips]
    return result


def _unanswered(lesson: Lesson, question: Any, code: Code) -> Result:
    text = f"`{question.name}` is not there yet: fill in the cell above and run it."
    why = code.observe(error_of, (question.name,))
    if isinstance(why, str) and why:
        text = f"`{question.name}` is not there: the cell above did not run to its end. {why[:300]}"
    return _failed(lesson, question, text)


def _failed(lesson: Lesson, question: Any, text: str) -> Result:
    part = Part(UNTRIED, question.points, False, text)
    return Result(lesson.name, question.name, question.points, [part])


def _wrong_kind(exercise: Exercise, found: Any) -> str:
    """Say in a sentence when a function was asked for and a class came, or the other way round."""
    wanted = "class" if isinstance(exercise.reference, type) else "function"
    return "" if found == wanted else f"`{exercise.name}` should be a {wanted}, yours is a {found}."


def _mark_choice(lesson: Lesson, choice: Choice, code: Code) -> Result:
    answer = code.observe(value, (choice.name,))
    return _lettered(lesson, choice, answer, choice.right, {}, "your")


def _mark_conclusion(lesson: Lesson, question: Conclusion, code: Code, graded: bool) -> Result:
    """Accept the letter that the learner's own result supports, or the reference's.

    Broken code has cost already, so a conclusion that fits the reference's result is right too.
    When grading, that is looked at first: the experiment is run again only where it can matter.
    """
    answer = code.observe(value, (question.name,))
    letter, truth = _letter(answer), None
    if graded and _supports(question, truth := reference_result(question), letter):
        return _lettered(lesson, question, answer, letter, truth, "the reference's")
    measured, whose, helped = code.observe(question.probe, question.inputs), "your", []
    if not _supports(question, measured, letter):
        truth = truth or reference_result(question)
        if not isinstance(truth, dict):
            return _failed(lesson, question, "the experiment does not run: run all cells again")
        if not isinstance(measured, dict) or _supports(question, truth, letter):
            measured, whose = truth, "the reference's"
            helped = [m.__name__ for m in question.measures]
    right = question.decide(measured)
    result = _lettered(lesson, question, answer, right, measured, whose)
    result.with_reference = helped
    return result


def _supports(question: Conclusion, measured: Any, letter: str | None) -> bool:
    """Say whether this is a result at all, and one from which the letter follows."""
    return isinstance(measured, dict) and letter == question.decide(measured)


def _letter(answer: Any) -> str | None:
    return answer.strip().lower() if isinstance(answer, str) else None


def _lettered(lesson, question, answer: Any, right: str, measured: dict, whose: str) -> Result:
    letter = _letter(answer)
    if letter not in question.answers:
        letters = ", ".join(repr(k) for k in question.answers)
        return _failed(lesson, question, f"answer with one of {letters}")
    why = question.answers[letter].format(**measured, whose=whose)
    part = Part(UNTRIED, question.points, letter == right, "" if letter == right else why)
    result = Result(lesson.name, question.name, question.points, [part], reasons=[why])
    if letter != right:
        result.slips = [f"{question.name} = {letter}"]
        part.found = f"{letter!r} does not fit"
    return result


def runs(exercise: Exercise, own: dict | Code, seed: str | None) -> Iterator[Run]:
    """Run all cases: the visible ones, and with a seed the drawn ones."""
    code = code_of(own)
    for case, inputs, expected, key in asked(exercise, seed):
        got = code.observe(case.probe, inputs, likely=expected)
        yield Run(case, inputs, expected.value, got, key)


def differences(run: Run, parts: dict[str, int]) -> dict[str, Difference | None]:
    """Compare one run part by part; a part it says nothing about is left out."""
    if not (isinstance(run.expected, dict) and isinstance(run.got, dict)):
        return {run.case.part: difference(run.expected, run.got)}
    keys: dict[str, list] = {}
    for key in [*run.expected, *run.got]:
        part = ROUTES.get(key, run.case.part)
        keys.setdefault(part if part in parts else run.case.part, []).append(key)
    return {
        part: difference(_only(mine, run.expected), _only(mine, run.got))
        for part, mine in keys.items()
    }


def _only(keys: list, seen: dict) -> dict:
    return {k: v for k, v in seen.items() if k in keys}


def _mark_exercise(
    lesson: Lesson, exercise: Exercise, code: Code, seed: str | None
) -> tuple[Result, list[Run]]:
    seen: dict[str, list] = {name: [] for name in exercise.parts}
    done = list(runs(exercise, code, seed))
    pictures = None
    for run in done:
        for part, found in differences(run, exercise.parts).items():
            seen[part].append((run, found))
            if found and pictures is None:
                pictures = picture(found)
    parts = [_part(name, points, seen[name]) for name, points in exercise.parts.items()]
    for part in parts:  # to leave the arguments alone is worth nothing by itself
        others = any(p.passed for p in parts if p is not part)
        if part.name == ARGUMENTS and part.passed and not others:
            part.passed, part.found = False, NOT_ALONE
    return Result(lesson.name, exercise.name, exercise.points, parts, pictures=pictures), done


def _part(name: str, points: float, seen: list[tuple[Run, Difference | None]]) -> Part:
    tried = list(dict.fromkeys(run.case.about for run, _ in seen))
    wrong = [(run, found) for run, found in seen if found]
    if wrong:
        run, found = wrong[0]
        return Part(name, points, False, f"{run.case.about}: {found.text}", tried)
    found = "" if seen else NOT_REACHED
    return Part(name, points, bool(seen), found, tried)


def _mark_with_reference(
    lesson: Lesson, exercise: Exercise, code: Code, seed: str | None, first: Result, done: list[Run]
) -> tuple[Result, list[Run]]:
    """Mark again with the earlier answers that the reference uses put right: a slip costs once."""
    earlier = lesson.names[: lesson.names.index(exercise.name)]
    used = [n for n in exercise.uses(earlier) if isinstance(lesson[n], Exercise)]
    if not used:
        return first, done
    with code.replaced({n: lesson[n].reference for n in used}, exercise.name):
        again, done_again = _mark_exercise(lesson, exercise, code, seed)
    if again.score < first.score:
        return first, done
    if again.score == first.score and (
        matching_slips(exercise, done) or not matching_slips(exercise, done_again)
    ):  # nothing is won, and no mistake comes to light that the earlier one had covered
        return first, done
    again.with_reference = used
    return again, done_again
