"""top_p_filter: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.generate.shared import LARGER_FIRST, NO_GRADIENT, drawn_rows
from solutions.generate import top_p_filter


def _clear_p(scores, low=0.3, high=0.9):
    """Choose a p that no sum of probabilities comes near, whatever the order of adding."""
    sums = scores.double().softmax(-1).sort(descending=True).values.cumsum(-1).flatten()
    grid = torch.linspace(low, high, 61, dtype=torch.float64)
    gap = (grid[:, None] - sums).abs().amin(-1)
    return float(grid[gap.argmax()])


def _top_p(*leading, p=None, dtype=torch.float32, mT=False):
    def draw(d):
        v = d.sizes(1, 6, 9)[0]
        scores = d.normal(v, *leading, dtype=dtype).mT if mT else d.normal(*leading, v, dtype=dtype)
        return *args(scores, _clear_p(scores) if p is None else p), NO_GRADIENT

    return draw


def _sure(d):
    """One token is as good as certain: a sum in float32 reaches 1 at once."""
    scores = d.normal(2, 6)
    scores[:, 2] = 40.0
    return *args(scores, 1.0), NO_GRADIENT


def _equal_p(v, p):
    return lambda d: (*args(torch.zeros(2, v) + float(d.integers(0, 4)), p), NO_GRADIENT)


P_LINE = "return scores.masked_fill(torch.zeros_like(cut).scatter(-1, order, cut), -math.inf)"


QUESTION = Exercise(
    top_p_filter,
    parts={"values": 7, "ties and the border": 3, "p = 0 and p = 1": 4, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch of scores", _top_p(3)),
        Case("values", "no batch", _top_p()),
        Case("values", "two leading axes, float64", _top_p(2, 3, dtype=torch.float64)),
        Case("values", "transposed", _top_p(3, mT=True)),
        Case("values", "a small p", _top_p(3, p=0.05)),
        Case("values", "large scores", drawn_rows([100.0, 99.0, 98.0, 0.0], 0.8)),
        Case(
            "values",
            "scores that are -inf already",
            lambda d: (*args(torch.tensor([[1.0, -torch.inf, 0.5, 0.0, -torch.inf, 2.0]]), 0.8), 0),
        ),
        Case("ties and the border", "p met exactly", _equal_p(4, 0.5)),
        Case("ties and the border", "eight equal scores", _equal_p(8, 0.3)),
        Case("ties and the border", "forty equal scores", _equal_p(40, 0.31)),
        Case("p = 0 and p = 1", "p = 0", _top_p(3, p=0.0)),
        Case("p = 0 and p = 1", "p = 1", _top_p(3, p=1.0)),
        Case("p = 0 and p = 1", "p = 1, one token nearly certain", _sure),
    ],
    slips=[
        Slip(
            "crossing token dropped",
            top_p_filter,
            "ranked.cumsum(-1) - ranked",
            "ranked.cumsum(-1)",
            "The token that crosses p is cut, so that less than p is left. A token is kept where "
            "those *before* it have less than p together: take its own probability off the sum.",
        ),
        Slip(
            "crossing token dropped, unless p is met exactly",
            top_p_filter,
            "before = ranked.cumsum(-1) - ranked  # what those ranked before have together\n"
            "    cut = before >= p",
            "before = ranked.cumsum(-1)\n    cut = before > p",
            "The token that crosses p is cut, so that less than p is left. A token is kept where "
            "those *before* it have less than p together: take its own probability off the sum.",
        ),
        Slip(
            "one too many where p is met exactly",
            top_p_filter,
            "before >= p",
            "before > p",
            "Where the tokens before have exactly p together, p is reached: the next one is cut.",
        ),
        Slip(
            "nothing kept",
            top_p_filter,
            "cut[..., 0] = False",
            "cut[..., 0] = cut[..., 0]",
            "With p = 0 nothing is left to draw from: the best token is always kept.",
        ),
        Slip(
            "p = 1 cuts the tail",
            top_p_filter,
            "if p >= 1:",
            "if p > 1:",
            "With p = 1 tokens are cut when the sum comes to 1 early, by rounding: keep all.",
        ),
        Slip(
            "cut in sorted order",
            top_p_filter,
            "torch.zeros_like(cut).scatter(-1, order, cut)",
            "cut",
            "The cut is made by rank but applied by id: scatter it back to where the tokens stand.",
        ),
        Slip(
            "gathered instead of scattered",
            top_p_filter,
            "torch.zeros_like(cut).scatter(-1, order, cut)",
            "cut.gather(-1, order)",
            "`gather` sorts once more; the way back from ranks to ids is `scatter`.",
        ),
        Slip(
            "the worst kept",
            top_p_filter,
            "descending=True",
            "descending=False",
            "The least probable tokens are kept: rank with descending=True.",
        ),
        Slip(
            "no softmax",
            top_p_filter,
            "scores.softmax(-1)",
            "scores.exp()",
            "The exponentials of the scores do not sum to one: use the softmax.",
        ),
        Slip(
            "scores added up",
            top_p_filter,
            "scores.softmax(-1)",
            "scores",
            "Scores are added up where probabilities are meant: use the softmax.",
        ),
        Slip(
            "a border for single tokens",
            top_p_filter,
            "cut = before >= p",
            "cut = ranked < p",
            "Each token's own probability is compared with p; it is the sum over the tokens ranked "
            "before it that counts.",
        ),
        Slip(
            "1 - p",
            top_p_filter,
            "before >= p",
            "before >= 1 - p",
            "The tokens kept have 1 - p together: p is what stays, not what goes.",
        ),
        Slip(
            "zero instead of -inf",
            top_p_filter,
            P_LINE,
            P_LINE.replace("-math.inf", "0.0"),
            "The others get the score 0, which is a score like any other: only -inf becomes the "
            "probability zero.",
        ),
        Slip(
            "probabilities returned",
            top_p_filter,
            P_LINE,
            P_LINE + ".softmax(-1)",
            "These are probabilities. Return scores: whoever draws does the softmax.",
        ),
        Slip(
            "larger ids first",
            top_p_filter,
            "order = scores.argsort(dim=-1, descending=True, stable=True)",
            LARGER_FIRST,
            "Of equal scores the larger ids are kept; the smaller id comes first.",
        ),
        Slip(
            "scores overwritten",
            top_p_filter,
            "scores.masked_fill(",
            "scores.masked_fill_(",
            "The argument itself is changed: the caller's scores are lost. Return a new tensor.",
        ),
    ],
    equivalent={
        "top_p_filter: scores.argsort(dim=-1, descending=True, stable=True) -> "
        "scores.argsort(descending=True, stable=True)": "the last axis is the default",
        "top_p_filter: scores.clone() -> scores": "the scores are the same, new or not",
        "top_p_filter: torch.zeros_like(cut) -> cut": "`order` names every place, so all are "
        "written over",
    },
)
