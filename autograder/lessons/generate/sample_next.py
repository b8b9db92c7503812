"""sample_next: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.generate import sample_next, top_k_filter, top_p_filter


def _shares(own, name, scores, options, seed):
    """Draw for many equal rows: the share of every token in tenths, and what the seed does."""
    import torch

    rows = scores.expand(10_000, -1).clone()
    draw, few = getattr(own, name), rows[:99]
    ids = draw(rows, torch.Generator().manual_seed(seed), **options)
    generator = torch.Generator().manual_seed(seed)
    first, later = draw(few, generator, **options), draw(few, generator, **options)
    again = draw(few, torch.Generator().manual_seed(seed), **options)
    other = draw(few, torch.Generator().manual_seed(seed + 1), **options)
    if not isinstance(ids, torch.Tensor) or ids.shape != (len(rows),) or ids.dtype != torch.int64:
        return {"ids": ids[:5] if isinstance(ids, torch.Tensor) else ids}
    shares = torch.bincount(ids, minlength=len(scores)) / len(rows)
    return {
        "tenths of the draws": (10 * shares).round().long().tolist(),
        "same seed, same tokens": bool((first == again).all()),
        "another seed, other tokens": bool((first != other).any()),
        "another draw, other tokens": bool((first != later).any()),
    }


def _greedy(own, name, scores, options):
    """Ask where nothing is left to chance."""
    import torch

    given = scores.clone()
    ids = getattr(own, name)(given, torch.Generator().manual_seed(0), **options)
    return {"ids": ids, "inputs": given}


def _clear(scores, top_k=None, top_p=None):
    """Say whether the shares, in tenths, are far from where the rounding changes: 5 sigma."""
    if top_k is not None:
        scores = top_k_filter(scores, top_k)
    if top_p is not None:
        sums = scores.softmax(-1).sort(descending=True).values.cumsum(-1)
        if float((sums - top_p).abs().min()) < 0.02:
            return False
        scores = top_p_filter(scores, top_p)
    tenths = 10 * scores.softmax(-1)
    far = float(((tenths % 1) - 0.5).abs().min()) > 0.25
    return far and len(set(tenths.round().tolist())) >= min(3, top_k or 3)


def _often(n=5, temperature=None, **filters):
    """Draw scores whose shares are clear, and where it shows in which order the filters came."""
    options = filters if temperature is None else {"temperature": temperature, **filters}

    def draw(d):
        for _ in range(2000):
            scores = d.normal(n, std=1.0)
            tempered = scores / (temperature or 1.0)
            if len(filters) == 2:
                k, p = filters["top_k"], filters["top_p"]
                by_k = top_k_filter(tempered, k)
                ways = (by_k, top_p_filter(by_k, p), top_k_filter(top_p_filter(tempered, p), k))
                if len({_n_left(way) for way in ways}) < 3:
                    continue
            if _clear(tempered, **filters):
                return scores, options, int(d.integers(0, 1000))
        raise ValueError("no clear draw")

    return draw


def _n_left(scores):
    return int(scores.isfinite().sum())


def _more_than_k(d):
    """Draw scores of which top-p alone would keep more than k, and of what top-k left, fewer."""
    k, p = 3, 0.7
    for _ in range(2000):
        scores = d.normal(7, std=0.7)
        alone, after = top_p_filter(scores, p), top_p_filter(top_k_filter(scores, k), p)
        if _n_left(alone) > k > _n_left(after) and _clear(scores, k, p):
            return scores, {"top_k": k, "top_p": p}, int(d.integers(0, 1000))
    raise ValueError("no clear draw")


def _large(d):
    scores, options, seed = _often()(d)
    return scores + 200, options, seed


def _pick(*shape, **options):
    return lambda d: (d.normal(*shape), options)


DRAW_LINE = "return torch.multinomial(scores.softmax(-1), 1, generator=generator).squeeze(-1)"


K_STEP = (
    "if top_k is not None:\n        scores = top_k_filter(scores, top_k)\n"
    "    if top_p is not None:\n        scores = top_p_filter(scores, top_p)"
)


QUESTION = Exercise(
    sample_next,
    parts={"drawing": 4, "temperature": 4, "filters": 4, ARGUMENTS: 2},
    cases=[
        Case("drawing", "10,000 rows alike", _often(), _shares),
        Case("drawing", "one row, k = 1", _pick(1, 6, top_k=1), _greedy),
        Case("drawing", "large scores", _large, _shares),
        Case("temperature", "a low temperature", _often(temperature=0.6), _shares),
        Case("temperature", "a high temperature", _often(temperature=1.8), _shares),
        Case("temperature", "temperature 0", _pick(4, 6, temperature=0), _greedy),
        Case("temperature", "hot, k = 1", _pick(3, 6, temperature=2.0, top_k=1), _greedy),
        Case(
            "temperature",
            "temperature 0, equal scores",
            lambda d: (
                torch.tensor([[1.0, 2.0, 2.0], [0.0, 0.0, -1.0]]),
                {"temperature": 0, "top_k": 2},
            ),
            _greedy,
        ),
        Case("filters", "top-k", _often(top_k=3), _shares),
        Case("filters", "top-p", _often(top_p=0.75), _shares),
        Case("filters", "a tiny p", _pick(5, 6, top_p=1e-6), _greedy),
        Case("filters", "p = 0", _pick(40, 6, top_p=0.0), _greedy),
        Case("filters", "top-p of hot scores", _often(temperature=2.0, top_p=0.6), _shares),
        Case("filters", "top-p of what top-k left", _often(7, top_k=4, top_p=0.7), _shares),
        Case("filters", "a top-p that alone keeps more than k", _more_than_k, _shares),
    ],
    slips=[
        Slip(
            "temperature multiplied",
            sample_next,
            "scores / temperature",
            "scores * temperature",
            "The scores are multiplied by the temperature, so that heat makes the draw colder: "
            "divide.",
        ),
        Slip(
            "temperature not used",
            sample_next,
            "scores / temperature",
            "scores / 1.0",
            "The temperature changes nothing. It divides the scores, before the softmax; "
            "probabilities divided by a number are drawn just as before.",
        ),
        Slip(
            "temperature after the filters",
            sample_next,
            "scores = scores / temperature\n    " + K_STEP,
            K_STEP.replace(
                "scores = top_p_filter(scores, top_p)",
                "scores = top_p_filter(scores, top_p)\n    scores = scores / temperature",
            ),
            "The temperature comes after the filters, so top-p cuts by other probabilities than "
            "are drawn from: divide first.",
        ),
        Slip(
            "top-p before top-k",
            sample_next,
            K_STEP,
            "if top_p is not None:\n        scores = top_p_filter(scores, top_p)\n"
            "    if top_k is not None:\n        scores = top_k_filter(scores, top_k)",
            "top-p comes before top-k. It is asked for on what top-k left: k first.",
        ),
        Slip(
            "top-k not used",
            sample_next,
            "scores = top_k_filter(scores, top_k)",
            "scores = scores",
            "top_k changes nothing.",
        ),
        Slip(
            "top-p not used",
            sample_next,
            "scores = top_p_filter(scores, top_p)",
            "scores = scores",
            "top_p changes nothing.",
        ),
        Slip(
            "always greedy",
            sample_next,
            DRAW_LINE,
            "return scores.argmax(-1)",
            "The best token is taken every time; draw from the probabilities.",
        ),
        Slip(
            "drawn evenly",
            sample_next,
            "scores.softmax(-1)",
            "(scores > -torch.inf).float()",
            "All tokens that are left are drawn alike: draw by their probabilities.",
        ),
        Slip(
            "one draw for all rows",
            sample_next,
            DRAW_LINE,
            "return torch.multinomial(scores[:1].softmax(-1), 1, generator=generator)"
            ".squeeze(-1).expand(len(scores))",
            "One token is drawn and given to every text: each row draws for itself.",
        ),
        Slip(
            "generator not used",
            sample_next,
            ", generator=generator)",
            ")",
            "The generator is not used: two calls with the same seed give different tokens.",
        ),
        Slip(
            "always the same seed",
            sample_next,
            "generator=generator",
            "generator=torch.Generator().manual_seed(0)",
            "The draws do not depend on the generator that was given: a fixed seed is set.",
        ),
        Slip(
            "generator never moves on",
            sample_next,
            "generator=generator",
            "generator=torch.Generator().manual_seed(generator.initial_seed())",
            "Every call draws the same tokens: only the generator's seed is used. Pass the "
            "generator itself, which moves on with each draw.",
        ),
        Slip(
            "top-p skipped after top-k",
            sample_next,
            "    if top_p is not None:",
            "    if top_k is None and top_p is not None:",
            "With both given only top_k is used: both filters cut, k first, then p.",
        ),
        Slip(
            "top-k skipped where there is a top-p",
            sample_next,
            "if top_k is not None:",
            "if top_p is None and top_k is not None:",
            "With both given only top_p is used: both filters cut, k first, then p.",
        ),
        Slip(
            "p = 0 taken for no p",
            sample_next,
            "if top_p is not None:",
            "if top_p:",
            "With top_p = 0 nothing is cut, for 0 counts as False: ask `if top_p is not None`.",
        ),
        Slip(
            "an axis too many",
            sample_next,
            ".squeeze(-1)",
            "",
            "The ids have the shape (B, 1): `multinomial` gives a column, take its axis away.",
        ),
        Slip(
            "temperature 0 is taken for 1",
            sample_next,
            "return scores.argmax(dim=-1)",
            "temperature = 1.0",
            "A temperature of 0 draws as 1 does: it should take the best token, nothing drawn.",
        ),
        Slip(
            "temperature 0 takes the worst",
            sample_next,
            "scores.argmax(dim=-1)",
            "scores.argmin(dim=-1)",
            "A temperature of 0 takes the lowest score.",
        ),
        Slip(
            "scores overwritten",
            sample_next,
            "scores = scores / temperature",
            "scores = scores.div_(temperature)",
            "The argument itself is changed: the caller's scores are lost. Work on a new tensor.",
        ),
    ],
    equivalent={
        f"sample_next: {old} -> {new}": "with two axes the last one is axis 1"
        for old, new in {
            "scores.argmax(dim=-1)": "scores.argmax(dim=1)",
            "scores.softmax(-1)": "scores.softmax(1)",
            DRAW_LINE.removeprefix("return "): DRAW_LINE.removeprefix("return ").replace(
                "squeeze(-1)", "squeeze(1)"
            ),
        }.items()
    },
)
