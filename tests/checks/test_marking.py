"""Points per part, a mistake costs once, and no answer brings the marking down."""

import contextlib
import linecache
import re
import sys
from typing import Any

import pytest
import torch

from autograder import lessons
from autograder.checks import reference
from autograder.checks.code import Here
from autograder.checks.draw import args
from autograder.checks.marking import mark, runs
from autograder.checks.question import (
    ARGUMENTS,
    VISIBLE,
    Case,
    Choice,
    Conclusion,
    Exercise,
    Lesson,
)
from autograder.checks.reference import asked, prepare
from autograder.checks.secrecy import NO_EXAMPLE
from autograder.checks.slips import patched
from solutions import multi_head, warm_up

WARM_UP, MULTI_HEAD = lessons.load("warm_up"), lessons.load("multi_head")
SEEDS = [None, "a", "b"]


def softmax_of(function, seed=None):
    return mark(WARM_UP, "softmax", {"softmax": function}, seed)


def passed(result) -> dict[str, bool]:
    return {part.name: part.passed for part in result.parts}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lesson", [WARM_UP, MULTI_HEAD], ids=lambda lesson: lesson.name)
def test_the_reference_gets_full_marks(lesson, seed):
    for exercise in lesson.exercises:
        result = mark(lesson, exercise.name, dict(vars(exercise.module)), seed)
        assert result.passed and result.score == exercise.points
        assert type(result.score) is float and not result.slips and not result.with_reference


def test_the_parts_add_up_to_the_points():
    for lesson in map(lessons.load, lessons.names()):
        for exercise in lesson.exercises:
            assert exercise.points == sum(exercise.parts.values())
            reached = {case.part for case in exercise.cases}
            assert reached <= exercise.parts.keys()


def test_a_part_is_lost_by_itself():
    def without_maximum(x, dim):
        return x.exp() / x.exp().sum(dim, keepdim=True)

    found = passed(softmax_of(without_maximum))
    assert found == {**dict.fromkeys(found, True), "large scores": False, "gradient": False}


def test_no_gradient_costs_the_gradient_only():
    found = passed(softmax_of(lambda x, dim: x.softmax(dim).detach()))
    assert found == {**dict.fromkeys(found, True), "gradient": False}


def test_a_changed_argument_costs_that_part_only():
    def overwrites(x, dim):
        result = x.softmax(dim)
        x.data.zero_()
        return result

    found = passed(softmax_of(overwrites))
    assert found == {**dict.fromkeys(found, True), ARGUMENTS: False}


def test_to_leave_the_arguments_alone_is_worth_nothing_by_itself():
    for empty in (lambda x, dim: None, lambda x, dim: x * 0 + 7.0):
        assert softmax_of(empty).score == 0


def test_no_part_is_lost_without_a_reason():
    result = softmax_of(lambda x, dim: x * 0 + 7.0)
    found = {part.name: part.found for part in result.parts}
    assert all(found.values())
    assert "counts only beside another part" in found[ARGUMENTS]


@pytest.mark.parametrize("answer", [None, ...])
def test_an_answer_left_open_is_not_there_yet(answer):
    result = mark(WARM_UP, "softmax", {"softmax": answer})
    assert result.score == 0 and "is not there yet" in result.parts[0].found
    assert mark(WARM_UP, "softmax", {}).parts == result.parts


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("def softmax(x, dim)\n    return x", "SyntaxError, line 1: expected ':'"),
        ("x = 1\nsoftmax = torch.softmx", "NameError, line 2: name 'torch' is not defined"),
        ("class softmax:\n    raise ValueError", "ValueError, line 1"),
    ],
)
def test_a_cell_that_failed_is_told_from_one_that_was_not_run(monkeypatch, source, sentence):
    own = {"In": ["", source, "softmax(x, 1)", 'check("warm_up.softmax", points=30)']}
    name = "<a cell>"
    monkeypatch.setitem(linecache.cache, name, (len(source), None, source.splitlines(True), name))
    with contextlib.suppress(SyntaxError):
        try:
            exec(compile(source, name, "exec"), own)
        except (NameError, ValueError) as error:  # IPython keeps the last one there
            monkeypatch.setattr(sys, "last_value", error, raising=False)
    (part,) = mark(WARM_UP, "softmax", own).parts
    assert part.found.startswith("`softmax` is not there: the cell above did not run to its end.")
    assert part.found.endswith(sentence)


def test_an_error_of_another_cell_is_not_taken_for_this_one_s(monkeypatch):
    monkeypatch.setattr(sys, "last_value", ValueError("of another cell"), raising=False)
    for cells in ([], ["softmax = None"], ["x = softmax(1)"], 3, [b"def softmax", None]):
        (part,) = mark(WARM_UP, "softmax", {"In": cells}).parts
        assert "is not there yet" in part.found


def unwritten_softmax(name: str):
    def body(x, dim):
        raise NotImplementedError()

    body.__code__ = body.__code__.replace(co_name=name)
    return body


def test_an_untouched_exercise_is_said_to_be_so_once():
    result = softmax_of(unwritten_softmax("softmax"), "a seed")
    (part,) = result.parts
    assert part.found.startswith("not answered yet: the code raised NotImplementedError (line")
    assert (result.score, part.points, result.slips) == (0, 30, [])
    layer = {**vars(multi_head), "MultiHeadAttention": empty_layer()}
    (part,) = mark(MULTI_HEAD, "MultiHeadAttention", layer).parts
    assert part.found.startswith("not answered yet") and "in forward" in part.found


def test_an_answer_that_rests_on_another_one_s_empty_body_is_not_called_unanswered():
    found = [part.found for part in softmax_of(unwritten_softmax("another")).parts]
    assert len(found) > 1 and "in another" in found[0]


def test_a_class_in_place_of_a_function_gets_a_sentence():
    result = mark(WARM_UP, "softmax", {"softmax": torch.nn.Softmax})
    assert result.parts[0].found == "`softmax` should be a function, yours is a class."


def test_a_function_or_a_number_in_place_of_a_class_gets_a_sentence():
    for answer, kind in ((lambda n_embd, n_head: None, "function"), (3, "int")):
        result = mark(MULTI_HEAD, "MultiHeadAttention", {"MultiHeadAttention": answer})
        wanted = f"`MultiHeadAttention` should be a class, yours is a {kind}."
        assert result.parts[0].found == wanted and result.score == 0


def empty_layer():
    class MultiHeadAttention(multi_head.MultiHeadAttention):
        def forward(self, x, context=None, mask=None):
            raise NotImplementedError

    return MultiHeadAttention


def layer_that_reads(own: dict):
    """Define the layer in a notebook's names, as a cell does."""
    source = """
from torch import nn
from solutions.queries_keys_values import scaled_dot_product_attention
from solutions.multi_head import MultiHeadAttention as Given

class MultiHeadAttention(Given):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q = split_heads(self.query(x), self.n_head)
        k = split_heads(self.key(context), self.n_head)
        v = split_heads(self.value(context), self.n_head)
        mask = None if mask is None else mask.unsqueeze(-3)
        return self.out(merge_heads(scaled_dot_product_attention(q, k, v, mask)))
"""
    exec(source, own)
    return own


def wrong_split(x, n_head):
    return x.reshape(*x.shape[:-2], n_head, x.size(-2), x.size(-1) // n_head)


def unwritten(*_):
    raise NotImplementedError


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("split", [wrong_split, unwritten, None])
def test_a_mistake_costs_once_and_the_result_says_so(split, seed):
    own = layer_that_reads({"split_heads": split, "merge_heads": multi_head.merge_heads})
    assert mark(MULTI_HEAD, "split_heads", own, seed).score < 15
    result = mark(MULTI_HEAD, "MultiHeadAttention", own, seed)
    assert result.score == result.points == 35
    assert result.with_reference == ["split_heads", "merge_heads"]
    assert own["split_heads"] is split  # put back


def test_a_mistake_is_named_that_an_earlier_one_had_covered():
    lesson = lessons.load("vit")
    turned = next(s for s in lesson["patchify"].slips if s.name == "image transposed")
    second = next(
        s for s in lesson["PatchEmbedding"].slips if s.name == "no position for the class token"
    )
    result = mark(lesson, "PatchEmbedding", patched(turned, second))  # its functions read it
    assert result.slips == [second.name] and result.with_reference == ["patchify"]


def test_a_layer_that_loses_by_the_help_is_marked_without_it():
    """Its own split and merge fit each other and nobody else's; only the mask is forgotten."""
    own = {
        "split_heads": lambda x, n_head: multi_head.split_heads(x, n_head).movedim(-3, 0),
        "merge_heads": lambda x: multi_head.merge_heads(x.movedim(0, -3)),
    }
    source = """
from solutions.queries_keys_values import scaled_dot_product_attention
from solutions.multi_head import MultiHeadAttention as Given

class MultiHeadAttention(Given):
    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = (
            split_heads(layer(given), self.n_head)
            for layer, given in ((self.query, x), (self.key, context), (self.value, context))
        )
        assert q.size(0) == self.n_head  # heads first, which the reference's are not
        return self.out(merge_heads(scaled_dot_product_attention(q, k, v)))
"""
    exec(source, own)
    result = mark(MULTI_HEAD, "MultiHeadAttention", own)
    assert 0 < result.score < result.points and result.with_reference == []


def test_a_layer_that_needs_no_help_is_marked_without_it():
    own = layer_that_reads({k: vars(multi_head)[k] for k in ("split_heads", "merge_heads")})
    assert mark(MULTI_HEAD, "MultiHeadAttention", own).with_reference == []


def test_an_earlier_answer_is_put_right_only_where_the_reference_reads_it_too():
    """Merging needs no split: who merges by splitting leans on an answer of their own choice."""
    source = """
def merge_heads(x):
    split_heads(x, 1)
    return x.transpose(-3, -2).flatten(-2)
"""
    own = {"split_heads": multi_head.split_heads}
    exec(source, own)
    assert mark(MULTI_HEAD, "merge_heads", own).passed
    own["split_heads"] = unwritten
    result = mark(MULTI_HEAD, "merge_heads", own)
    assert result.score == 0 and result.with_reference == []


def test_an_empty_layer_over_right_earlier_answers_gets_nothing():
    own = {**vars(multi_head), "MultiHeadAttention": empty_layer()}
    result = mark(MULTI_HEAD, "MultiHeadAttention", own)
    assert result.score == 0 and result.with_reference == []


def test_a_later_answer_bound_to_an_empty_earlier_one_gets_nothing():
    own = {"split_heads": unwritten, "merge_heads": unwritten}
    assert mark(MULTI_HEAD, "merge_heads", own).score == 0


def test_replaced_names_are_put_back_also_after_an_error():
    own = {"a": 1}
    with pytest.raises(RuntimeError), Here(own).replaced({"a": 2, "b": 3}):
        assert own == {"a": 2, "b": 3}
        raise RuntimeError
    assert own == {"a": 1}


@pytest.mark.parametrize("answer, score", [("c", 10), (" C ", 10), ("a", 0), ("", 0)])
def test_a_choice_is_marked_by_its_letter(answer, score):
    result = mark(WARM_UP, "which_line", {"which_line": answer})
    assert result.score == score


@pytest.mark.parametrize("answer", ["e", 3, ["c"], {"c": 1}, torch.tensor(3), len, b"c"])
def test_an_answer_that_is_no_letter_is_told_the_letters(answer):
    for name in ("which_line", "what_moves"):
        own = {"softmax": warm_up.softmax, name: answer}
        result = mark(WARM_UP, name, own)
        assert result.score == 0
        assert result.parts[0].found == "answer with one of 'a', 'b', 'c', 'd'"


def test_a_wrong_choice_is_told_why_and_counted_for_the_class():
    result = mark(WARM_UP, "which_line", {"which_line": "a"})
    assert result.slips == ["which_line = a"]
    assert result.reasons == [WARM_UP["which_line"].answers["a"]]


@pytest.mark.parametrize("seed", [None, "a grading seed"])
def test_a_conclusion_is_judged_by_the_learners_own_result_or_by_the_reference(seed):
    def unstable(x, dim):
        return x.exp() / x.exp().sum(dim, keepdim=True)  # plus 1,000 it is nan: that moves

    for softmax, right in ((warm_up.softmax, "c"), (unstable, "ac")):
        own = {"softmax": softmax}
        scores = {
            letter: mark(WARM_UP, "what_moves", {**own, "what_moves": letter}, seed).score
            for letter in "abcd"
        }
        assert scores == {letter: 15.0 if letter in right else 0.0 for letter in "abcd"}


def test_grading_repeats_the_experiment_only_where_it_can_matter_and_says_whose_result_it_is():
    called = []

    def own(x, dim):
        called.append(dim)
        return warm_up.softmax(x, dim)

    def marked(letter: str, seed: str | None):
        called.clear()
        return mark(WARM_UP, "what_moves", {"softmax": own, "what_moves": letter}, seed)

    assert "With your softmax" in marked("a", None).reasons[0] and called
    assert "With the reference's softmax" in marked("a", "seed").reasons[0]  # its points are full
    assert marked("c", None).passed and called
    assert marked("c", "seed").passed and not called


def test_an_invented_measurement_counts_only_where_the_code_it_measures_is_wrong():
    invented_result = {"added": 1.0, "tenfold": 0.0, "largest_before": 0.5, "largest_after": 0.5}

    class Inventing(Here):
        """Answers the experiment as it likes."""

        def observe(self, probe, inputs, likely=None, secret=False):
            if probe is WARM_UP["what_moves"].probe:
                return invented_result
            return super().observe(probe, inputs, likely, secret)

    invented = WARM_UP["what_moves"].decide(invented_result)
    assert invented != "c"
    right = Inventing({"softmax": warm_up.softmax, "what_moves": invented})
    assert mark(WARM_UP, "what_moves", right, "seed").score == 0
    wrong = Inventing({"softmax": lambda x, dim: x, "what_moves": invented})
    assert mark(WARM_UP, "what_moves", wrong, "seed").score == 15  # the mistake has cost already


def test_what_was_prepared_is_not_asked_again(monkeypatch):
    prepare(WARM_UP, "a seed prepared for")
    asked = []
    for name in ("observe", "observe_packed"):
        monkeypatch.setattr(reference, name, lambda *given: asked.append(given))
    own = {**vars(warm_up), "which_line": WARM_UP["which_line"].right, "what_moves": "c"}
    assert all(mark(WARM_UP, name, own, "a seed prepared for").passed for name in WARM_UP.names)
    assert not asked


def test_a_conclusion_over_code_that_fails_is_judged_by_the_reference():
    result = mark(WARM_UP, "what_moves", {"softmax": unwritten, "what_moves": "c"})
    assert result.score == 15 and result.with_reference == ["softmax"]


def test_an_experiment_that_cannot_run_at_all_gets_a_sentence():
    def broken(own):
        raise OSError("no data")

    question = Conclusion("q", 5, broken, (), lambda measured: "a", {"a": "", "b": ""})
    result = mark(Lesson("made", [question]), "q", {"q": "a"})
    assert result.score == 0 and "the experiment does not run" in result.parts[0].found


def test_defaults_that_the_learner_changed_do_not_cost_points():
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    try:
        marks = [
            mark(WARM_UP, "softmax", dict(vars(warm_up)), "another seed"),
            mark(MULTI_HEAD, "MultiHeadAttention", dict(vars(multi_head)), "another seed"),
        ]
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
    assert [result.score for result in marks] == [30, 35]


def test_hard_coded_answers_to_the_visible_cases_fail_on_a_seed():
    exercise = WARM_UP["one_hot_rows"]
    known = [(run.inputs[1], run.inputs[2], run) for run in runs(exercise, vars(warm_up), None)]

    def remembers(ids, n):
        for seen, m, _ in known:
            if seen.shape == ids.shape and torch.equal(seen, ids) and m == n:
                return torch.eye(n)[ids]
        return torch.zeros(*ids.shape, n)

    own = {"one_hot_rows": remembers}
    assert mark(WARM_UP, "one_hot_rows", own).passed
    assert mark(WARM_UP, "one_hot_rows", own, "a seed").score < 15


def test_the_picture_is_the_first_matrix_that_differs():
    def wrong(x):
        return x + torch.tensor([0.0, 1.0]).reshape(2, 1, 1)

    def right(x):
        return x

    wrong.__name__ = right.__name__ = "f"
    right.__module__ = __name__
    globals()["f"] = right
    case = Case("values", "two tables", lambda d: args(d.normal(2, 3, 4)))
    result = mark(Lesson("made", [Exercise(right, {"values": 1}, [case])]), "f", {"f": wrong})
    expected, got = result.pictures
    assert torch.allclose(got - expected, torch.ones(3, 4), atol=1e-6)


def test_a_question_has_one_right_answer_among_its_answers():
    for lesson in map(lessons.load, lessons.names()):
        for question in lesson.questions:
            if isinstance(question, Choice):
                assert question.right in question.answers


def wrong_on_large_sizes(x, dim):
    """Be right on the visible cases: they are known, so a learner can fit them."""
    seen = any(x.shape == v.shape and torch.equal(x, v) for v in VISIBLE_INPUTS)
    return warm_up.softmax(x, dim) * (1.0 if seen else 1.5)


VISIBLE_INPUTS = [
    case.inputs("softmax", "visible", 0)[1][0].detach() for case in WARM_UP["softmax"].cases
]


def test_of_a_hidden_case_no_number_is_told_and_an_example_is_drawn_in_public():
    own = {"softmax": wrong_on_large_sizes}
    assert mark(WARM_UP, "softmax", own).passed
    result = mark(WARM_UP, "softmax", own, "a secret seed", "a public seed")
    assert not result.passed
    part = next(part for part in result.parts if not part.passed)
    assert "an example drawn for you" in part.found and "expected" in part.found
    answers = {key: seen.value for _, _, seen, key in asked(WARM_UP["softmax"], "a secret seed")}
    hidden, visible = (
        {
            f"{n:.5g}"
            for key, v in answers.items()
            if (key[-2] == VISIBLE) is public
            for n in results(v)
        }
        for public in (False, True)
    )
    told = {f"{float(n):.5g}" for p in result.parts for n in re.findall(r"\d\.\d+", p.found)}
    assert told and hidden and not told & (hidden - visible)


def results(seen: Any) -> list[float]:
    return seen["result"].flatten().tolist() if isinstance(seen, dict) else []


def test_inputs_drawn_from_the_seed_are_called_secret_and_no_others():
    told: dict[bool, list] = {True: [], False: []}

    class Noting(Here):
        def observe(self, probe, inputs, likely=None, secret=False):
            told[secret].append(inputs)
            return super().observe(probe, inputs, likely, secret)

    own = Noting(dict(vars(warm_up)))
    keys = [run.key for run in runs(WARM_UP["softmax"], own, "a secret seed")]
    drawn = [key for key in keys if "a secret seed" in key]
    assert len(told[True]) == len(drawn) == 3 * len(told[False]) > 0
    told[True].clear()
    list(runs(WARM_UP["softmax"], own, None))
    assert told[True] == []


def test_where_no_public_draw_fails_that_is_said(monkeypatch):
    monkeypatch.setattr("autograder.checks.secrecy.TRIES", 0)
    monkeypatch.setattr("autograder.checks.marking.first_that_fails", lambda tried: None)
    result = mark(WARM_UP, "softmax", {"softmax": wrong_on_large_sizes}, "a secret seed")
    part = next(part for part in result.parts if not part.passed)
    assert "on hidden numbers: some numbers differ" in part.found and NO_EXAMPLE in part.found
    assert result.pictures is None
