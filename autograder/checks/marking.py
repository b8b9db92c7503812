"""Mark one question: run its cases, give points per part, say what went wrong and why."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from autograder.checks.code import Code, code_of
from autograder.checks.compare import Difference, difference
from autograder.checks.diagnosis import empty_body, matching_slips, picture
from autograder.checks.question import (
    ARGUMENTS,
    ROUTES,
    VISIBLE,
    Case,
    Choice,
    Conclusion,
    Exercise,
    Lesson,
)
from autograder.checks.reference import asked, reference_result
from autograder.checks.result import NOT_ALONE, NOT_REACHED, UNTRIED, Part, Result, Run
from autograder.checks.secrecy import NO_EXAMPLE, first_that_fails, is_hidden, told
from autograder.seam.probe import MISSING, error_of, kind, observe, quiet, value
from autograder.seam.wire import Died

Seen = tuple[Run, Difference | None]  # a run, and how it differs in one part


class Seeds(NamedTuple):
    """What cases are drawn from: the instructor's secret, and what anybody may know."""

    secret: str | None
    public: str


def mark(
    lesson: Lesson,
    name: str,
    own: dict[str, Any] | Code,
    seed: str | None = None,
    public: str = "",
) -> Result:
    """Mark one answer in `own`; with a seed, also on hidden cases drawn from it.

    Where only hidden cases fail, an example is drawn from `public`, which need not be secret.
    """
    with quiet():  # inputs are drawn with torch's own defaults, not with the learner's
        return _mark(lesson, name, code_of(own), Seeds(seed, public))


def look(lesson: Lesson, name: str, code: Code) -> None:
    """Observe all that is public of one answer, before anything secret is shown to the code."""
    question = lesson[name]
    with quiet():
        found = code.observe(kind, (name,))
        if found == MISSING:
            code.observe(error_of, (name,))
        elif isinstance(question, Exercise):
            for _ in runs(question, code, None):
                pass
        else:
            code.observe(value, (name,))


def _mark(lesson: Lesson, name: str, code: Code, seeds: Seeds) -> Result:
    question = lesson[name]
    found = code.observe(kind, (name,))
    if isinstance(found, Died):
        return _failed(lesson, question, f"the code did not finish: {found.how}")
    if found == MISSING:
        return _unanswered(lesson, question, code)
    if isinstance(question, Choice):
        return _mark_choice(lesson, question, code)
    if isinstance(question, Conclusion):
        return _mark_conclusion(lesson, question, code, seeds)
    if wrong_kind := _wrong_kind(question, found):
        return _failed(lesson, question, wrong_kind)
    result, done = _mark_exercise(lesson, question, code, seeds)
    if not result.passed:
        result, done = _mark_with_reference(lesson, question, code, seeds, result, done)
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


def _mark_conclusion(lesson: Lesson, question: Conclusion, code: Code, seeds: Seeds) -> Result:
    """Accept the letter that the reference's result supports, or the learner's own.

    When grading, the learner's own result counts only where the exercises it measures lost points:
    that mistake has cost already. Right code gives the reference's result, so another is invented.
    """
    answer = code.observe(value, (question.name,))
    letter, truth = _letter(answer), None
    if seeds.secret is not None:
        truth = reference_result(question)
        if _supports(question, truth, letter) or _all_right(lesson, question, code, seeds):
            return _concluded(lesson, question, answer, truth, "the reference's")
    measured = code.observe(question.probe, question.inputs)
    if _supports(question, measured, letter):
        return _concluded(lesson, question, answer, measured, "your")
    truth = truth or reference_result(question)
    if not isinstance(truth, dict):
        return _failed(lesson, question, "the experiment does not run: run all cells again")
    if isinstance(measured, dict) and not _supports(question, truth, letter):
        return _concluded(lesson, question, answer, measured, "your")
    result = _concluded(lesson, question, answer, truth, "the reference's")
    result.with_reference = [m.__name__ for m in question.measures]
    return result


def _concluded(
    lesson: Lesson, question: Conclusion, answer: Any, measured: Any, whose: str
) -> Result:
    if not isinstance(measured, dict):
        return _failed(lesson, question, "the experiment does not run: run all cells again")
    return _lettered(lesson, question, answer, question.decide(measured), measured, whose)


def _all_right(lesson: Lesson, question: Conclusion, code: Code, seeds: Seeds) -> bool:
    """Say whether the exercises that an experiment measures have all their points."""
    names = [m.__name__ for m in question.measures if m.__name__ in lesson.names]
    return all(_mark(lesson, name, code, seeds).passed for name in names)


def _supports(question: Conclusion, measured: Any, letter: str | None) -> bool:
    """Say whether this is a result at all, and one from which the letter follows."""
    return isinstance(measured, dict) and letter == question.decide(measured)


def _letter(answer: Any) -> str | None:
    return answer.strip().lower() if isinstance(answer, str) else None


def _lettered(
    lesson: Lesson,
    question: Choice | Conclusion,
    answer: Any,
    right: str,
    measured: dict,
    whose: str,
) -> Result:
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
        got = code.observe(case.probe, inputs, expected, secret=key[-2] != VISIBLE)
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
    lesson: Lesson, exercise: Exercise, code: Code, seeds: Seeds
) -> tuple[Result, list[Run]]:
    seen: dict[str, list[Seen]] = {name: [] for name in exercise.parts}
    done = list(runs(exercise, code, seeds.secret))
    for run in done:
        for name, found in differences(run, exercise.parts).items():
            seen[name].append((run, found))
    examples = {name: _example(exercise, name, seen[name], code, seeds.public) for name in seen}
    parts = [
        _part(name, points, seen[name], examples[name]) for name, points in exercise.parts.items()
    ]
    for part in parts:  # to leave the arguments alone is worth nothing by itself
        others = any(p.passed for p in parts if p is not part)
        if part.name == ARGUMENTS and part.passed and not others:
            part.passed, part.found = False, NOT_ALONE
    result = Result(lesson.name, exercise.name, exercise.points, parts)
    shown = [(r, d) for r, d in itertools.chain(*seen.values()) if d and not is_hidden(r)]
    shown += [example for example in examples.values() if example]
    result.pictures = next((made for _, d in shown if (made := picture(d))), None)
    return result, done


def _example(
    exercise: Exercise, name: str, seen: list[Seen], code: Code, public: str
) -> tuple[Run, Difference] | None:
    """Find a public draw of the cases of a part that fail only on hidden numbers."""
    wrong = [run for run, found in seen if found]
    if not wrong or not all(map(is_hidden, wrong)) or any(isinstance(r.got, Died) for r in wrong):
        return None
    cases = list(dict.fromkeys(run.case for run in wrong))
    tried = (
        (run, differences(run, exercise.parts).get(name))
        for run in public_runs(exercise, cases, code, public)
    )
    return first_that_fails(tried)


def public_runs(exercise: Exercise, cases: list[Case], code: Code, public: str) -> Iterator[Run]:
    """Run cases on draws that anybody can make."""
    for number in itertools.count():
        for case in cases:
            inputs = case.inputs(exercise.name, ("public", public), number)
            expected = observe(vars(exercise.module), case.probe, inputs)
            got = code.observe(case.probe, inputs)
            yield Run(case, inputs, expected, got, (public, VISIBLE, number))


def _part(
    name: str, points: float, seen: list[Seen], example: tuple[Run, Difference] | None
) -> Part:
    tried = list(dict.fromkeys(run.case.about for run, _ in seen))
    wrong = [(run, found) for run, found in seen if found]
    if not wrong:
        return Part(name, points, bool(seen), "" if seen else NOT_REACHED, tried)
    run, found = min(wrong, key=lambda pair: is_hidden(pair[0]))
    text = told(run, found)
    if example is not None:
        text = f"{told(*example)} (an example drawn for you: only hidden numbers had failed)"
    elif is_hidden(run) and not isinstance(run.got, Died):
        text = f"{text}. {NO_EXAMPLE}"
    return Part(name, points, False, text, tried)


def _mark_with_reference(
    lesson: Lesson, exercise: Exercise, code: Code, seeds: Seeds, first: Result, done: list[Run]
) -> tuple[Result, list[Run]]:
    """Mark again with the earlier answers that the reference uses put right: a slip costs once."""
    earlier = lesson.names[: lesson.names.index(exercise.name)]
    used = [n for n in exercise.uses(earlier) if isinstance(lesson[n], Exercise)]
    if not used:
        return first, done
    references = {e.name: e.reference for e in lesson.exercises if e.name in used}
    with code.replaced(references, exercise.name):
        again, done_again = _mark_exercise(lesson, exercise, code, seeds)
    if again.score < first.score:
        return first, done
    if again.score == first.score and (
        matching_slips(exercise, done) or not matching_slips(exercise, done_again)
    ):  # nothing is won, and no mistake comes to light that the earlier one had covered
        return first, done
    again.with_reference = used
    return again, done_again
