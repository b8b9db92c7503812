"""generate: filters, drawing a token, the cache of keys and values, beam search."""

import inspect
from types import SimpleNamespace

import torch

from autograder.exercise import ARGUMENTS, Case, Choice, Conclusion, Draw, Exercise, args
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.beam_search import beam_search
from solutions.generate import sample_next, top_k_filter, top_p_filter
from solutions.gpt import GPT
from solutions.gpt_block import GPTConfig
from solutions.kv_cache import KVCache

NO_GRADIENT = False  # nobody trains through a filter
LARGER_FIRST = (
    "order = scores.size(-1) - 1 - scores.flip(-1).argsort(dim=-1, descending=True, stable=True)"
)


def _top_k(*leading, k=None, dtype=torch.float32):
    def draw(d):
        v = d.sizes(1, 6, 9)[0]
        return *args(d.normal(*leading, v, dtype=dtype), k or d.sizes(1, 2, 4)[0]), NO_GRADIENT

    return draw


def _ties(k):
    def draw(d):
        scores = torch.tensor([[1.0, 3.0, 2.0, 3.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0]])
        return *args(scores + float(d.integers(0, 5)), k), NO_GRADIENT

    return draw


def _rows(scores, p_or_k):
    return lambda d: (*args(torch.tensor([scores]), p_or_k), NO_GRADIENT)


def _cut_before(p_or_k):
    def draw(d):
        scores = d.normal(2, 7)
        scores[:, 1], scores[:, 4] = -torch.inf, -torch.inf
        return *args(scores, p_or_k), NO_GRADIENT

    return draw


K_LINE = "return scores.scatter(-1, order[..., k:], -math.inf)"

TOP_K = Exercise(
    top_k_filter,
    parts={"values": 5, "ties": 3, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch of scores", _top_k(3)),
        Case("values", "k = 1", _top_k(4, k=1)),
        Case("values", "k = V", lambda d: (*args(d.normal(2, 5), 5), NO_GRADIENT)),
        Case("values", "k above V", lambda d: (*args(d.normal(2, 5), 8), NO_GRADIENT)),
        Case("values", "no batch", _top_k()),
        Case("values", "two leading axes, float64", _top_k(2, 3, dtype=torch.float64)),
        Case("values", "transposed", lambda d: (*args(d.normal(7, 3).mT, 3), NO_GRADIENT)),
        Case("values", "scores that are -inf already", _cut_before(3)),
        Case("values", "scores far apart", _rows([-200.0, -120.0, 0.0], 2)),
        Case("values", "scores close together", _rows([2.0, 2.00003, 1.0], 1)),
        Case("ties", "equal scores at the border", _ties(3)),
        Case("ties", "equal scores, k = 1", _ties(1)),
        Case("ties", "twenty equal scores", lambda d: (*args(torch.zeros(20), 7), NO_GRADIENT)),
    ],
    slips=[
        Slip(
            "the worst kept",
            top_k_filter,
            "descending=True",
            "descending=False",
            "The lowest scores are kept and the best are cut: sort with descending=True.",
        ),
        Slip(
            "all equals kept",
            top_k_filter,
            K_LINE,
            "return scores.masked_fill(scores < scores.sort(dim=-1, descending=True)"
            ".values[..., : k][..., -1:], -math.inf)",
            "All tokens with the score of the k-th best are kept, which may be more than k. Of "
            "equal scores only the smaller ids stay: rank with a stable sort, then cut by rank.",
        ),
        Slip(
            "larger ids first",
            top_k_filter,
            "order = scores.argsort(dim=-1, descending=True, stable=True)",
            LARGER_FIRST,
            "Of equal scores the larger ids are kept; the smaller id comes first.",
        ),
        Slip(
            "one too many",
            top_k_filter,
            "order[..., k:]",
            "order[..., k + 1 :]",
            "k + 1 tokens are kept: the ranks 0 to k - 1 stay.",
        ),
        Slip(
            "one too few",
            top_k_filter,
            "order[..., k:]",
            "order[..., max(k - 1, 1) :]",
            "k - 1 tokens are kept: the ranks 0 to k - 1 stay.",
        ),
        Slip(
            "the k best cut",
            top_k_filter,
            "order[..., k:]",
            "order[..., :k]",
            "The k best are cut and the others kept; it is the other way round.",
        ),
        Slip(
            "zero instead of -inf",
            top_k_filter,
            K_LINE,
            K_LINE.replace("-math.inf", "0.0"),
            "The others get the score 0. That is a score like any other, and often a good one: "
            "only -inf becomes the probability zero.",
        ),
        Slip(
            "a large negative number",
            top_k_filter,
            K_LINE,
            K_LINE.replace("-math.inf", "-1e9"),
            "The others get -1e9, which is no -inf: a row of such scores is still a fair draw.",
        ),
        Slip(
            "one border for the whole batch",
            top_k_filter,
            K_LINE,
            "return scores.masked_fill(scores < scores.flatten().sort(descending=True)"
            ".values[: k][-1], -math.inf)",
            "The k best of the whole batch are kept: every row has its own k best.",
        ),
        Slip(
            "left in sorted order",
            top_k_filter,
            K_LINE,
            "return scores.gather(-1, order).masked_fill("
            "torch.arange(scores.size(-1)) >= k, -math.inf)",
            "The scores come back sorted, so they belong to other tokens now: bring them back to "
            "their ids.",
        ),
        Slip(
            "probabilities returned",
            top_k_filter,
            K_LINE,
            "return scores.scatter(-1, order[..., k:], -math.inf).softmax(-1)",
            "These are probabilities. Return scores: whoever draws does the softmax.",
        ),
        Slip(
            "scores overwritten",
            top_k_filter,
            "scores.scatter(",
            "scores.scatter_(",
            "The argument itself is changed: the caller's scores are lost. Return a new tensor.",
        ),
    ],
    equivalent={
        "top_k_filter: scores.argsort(dim=-1, descending=True, stable=True) -> "
        "scores.argsort(descending=True, stable=True)": "the last axis is the default",
    },
)


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

TOP_P = Exercise(
    top_p_filter,
    parts={"values": 7, "ties and the border": 3, "p = 0 and p = 1": 4, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch of scores", _top_p(3)),
        Case("values", "no batch", _top_p()),
        Case("values", "two leading axes, float64", _top_p(2, 3, dtype=torch.float64)),
        Case("values", "transposed", _top_p(3, mT=True)),
        Case("values", "a small p", _top_p(3, p=0.05)),
        Case("values", "large scores", _rows([100.0, 99.0, 98.0, 0.0], 0.8)),
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


def _often(n=5, **options):
    """Draw scores whose shares, in tenths, are far from where the rounding changes: 5 sigma."""

    def draw(d):
        for _ in range(2000):
            scores = d.normal(n, std=1.0)
            # where the order of the steps matters, the draw must show it
            far = scores / options.get("temperature", 1.0)
            if "top_k" in options and "top_p" in options:
                k, p = options["top_k"], options["top_p"]
                by_k = top_k_filter(far, k)
                ways = (by_k, top_p_filter(by_k, p), top_k_filter(top_p_filter(far, p), k))
                if len({int(way.isfinite().sum()) for way in ways}) < 3:
                    continue
            if "top_k" in options:
                far = top_k_filter(far, options["top_k"])
            if "top_p" in options:
                sums = far.softmax(-1).sort(descending=True).values.cumsum(-1)
                if float((sums - options["top_p"]).abs().min()) < 0.02:
                    continue
                far = top_p_filter(far, options["top_p"])
            tenths = 10 * far.softmax(-1)
            clear = float(((tenths % 1) - 0.5).abs().min()) > 0.25
            if clear and len(set(tenths.round().tolist())) >= min(3, options.get("top_k", 3)):
                return scores, options, int(d.integers(0, 1000))
        raise ValueError("no clear draw")

    return draw


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

SAMPLE = Exercise(
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


def _extended(own, name, n_layer, layer, keys, values):
    """Extend one layer again and again: what is returned, what is kept, what else changed."""
    cache = getattr(own, name)(n_layer)
    returned = []
    for k, v in zip(keys, values, strict=True):
        pair = cache.extend(layer, k, v)
        returned.append([x.clone() for x in pair])
    others = [cache.keys[i] is None for i in range(n_layer) if i != layer]
    return {
        "returned": returned,
        "kept keys": cache.keys[layer],
        "kept values": cache.values[layer],
        "other layers empty": others,
        "inputs": [*keys, *values],
    }


def _chunks(*lengths, layer=1):
    def draw(d):
        b, h, size = d.sizes(3, 2, 6)
        keys = [d.normal(b, h, t, size) for t in lengths]
        return 3, layer, keys, [d.normal(*k.shape) for k in keys]

    return draw


def _read(own, name, config, weights, pieces):
    """Read a text piece by piece: the scores of every piece, and what the cache holds after it.

    For every piece, too: how many tokens went through the first block.
    """
    import torch

    from solutions.gpt import GPT
    from solutions.gpt_block import GPTConfig

    model = GPT(GPTConfig(**config))
    model.load_state_dict(weights)
    model.eval()
    cache = getattr(own, name)(config["n_layer"])
    scores, sent, totals = [], [], []
    model.blocks[0].register_forward_hook(lambda block, given, out: sent.append(out.size(1)))
    with torch.no_grad():
        for piece in pieces:
            scores.append(cache.read(model, piece))
            totals.append(sum(sent))
    return {
        "scores": scores,
        "tokens sent through the first block so far": totals,
        "tokens read": len(cache),
        "keys": list(cache.keys),
        "values": list(cache.values),
        "inputs": pieces,
    }


def _config(**options) -> dict:
    sizes = {"vocab_size": 9, "block_size": 7, "n_layer": 2, "n_head": 2, "n_embd": 8}
    return sizes | {"positions": "learned", "tied": False} | options


def _weights(d, config: dict) -> dict:
    shapes = GPT(GPTConfig(**config)).state_dict()
    return {
        k: d.normal(*v.shape, std=0.6 if v.ndim > 1 else 1.0) + 0.5 * ("norm" in k)
        for k, v in shapes.items()
    }


def _pieces(*lengths, b=3, **options):
    def draw(d):
        config = _config(**options)
        return config, _weights(d, config), [d.integers(0, 9, b, t) for t in lengths]

    return draw


JOIN = (
    "k = torch.cat([self.keys[layer], k], dim=-2)\n"
    "            v = torch.cat([self.values[layer], v], dim=-2)"
)
MASK = "torch.ones(t, start + t, dtype=torch.bool, device=ids.device).tril(start)"

READ = inspect.getsource(KVCache.read).rpartition('"""')[2].strip()  # without the docstring
READ_AGAIN = READ.replace(
    "start, t = len(self), ids.size(-1)",
    "new, ids = ids.size(-1), torch.cat([self.text, ids], -1) if len(self) else ids; "
    "self.text = ids; self.__init__(len(self.keys)); start, t = 0, ids.size(-1)",
).replace("model.head(model.norm(x))", "model.head(model.norm(x))[:, -new:]")

CACHE = Exercise(
    KVCache,
    parts={"extend": 6, "one token at a time": 6, "several tokens at a time": 4, "rotary": 4},
    cases=[
        Case("extend", "three times one token", _chunks(1, 1, 1), _extended),
        Case("extend", "pieces of different length", _chunks(3, 1, 2), _extended),
        Case("extend", "the first time", _chunks(4, layer=0), _extended),
        Case("one token at a time", "a text of four, then one by one", _pieces(4, 1, 1), _read),
        Case("one token at a time", "from the start, one text", _pieces(1, 1, 1, b=1), _read),
        Case("one token at a time", "up to the block size", _pieces(5, 1, 1, n_layer=3), _read),
        Case("several tokens at a time", "the whole text at once", _pieces(6), _read),
        Case("several tokens at a time", "in pieces", _pieces(2, 3, 2), _read),
        Case("rotary", "one by one", _pieces(3, 1, 1, positions="rotary"), _read),
        Case("rotary", "in pieces", _pieces(2, 3, 4, positions="rotary"), _read),
    ],
    slips=[
        Slip(
            "joined along the heads",
            KVCache.extend,
            JOIN,
            JOIN.replace("dim=-2", "dim=-3"),
            "New keys are joined as if they were further heads. Tokens stand on the axis before "
            "the last, of (B, H, T, D): dim=-2.",
        ),
        Slip(
            "joined along the batch",
            KVCache.extend,
            JOIN,
            JOIN.replace("dim=-2", "dim=0"),
            "New keys are joined as if they were further texts: join along the tokens, dim=-2.",
        ),
        Slip(
            "joined along the columns",
            KVCache.extend,
            JOIN,
            JOIN.replace("dim=-2", "dim=-1"),
            "New keys are joined as further columns: join along the tokens, dim=-2.",
        ),
        Slip(
            "new before old",
            KVCache.extend,
            JOIN,
            "k = torch.cat([k, self.keys[layer]], dim=-2)\n"
            "            v = torch.cat([v, self.values[layer]], dim=-2)",
            "The new tokens stand in front of the old ones: the old come first.",
        ),
        Slip(
            "values forgotten",
            KVCache.extend,
            JOIN,
            "k = torch.cat([self.keys[layer], k], dim=-2)\n"
            "            v = torch.cat([self.values[layer], torch.zeros_like(v)], dim=-2)",
            "The new values do not arrive in the cache: keys and values grow together.",
        ),
        Slip(
            "keys for values",
            KVCache.extend,
            "torch.cat([self.values[layer], v], dim=-2)",
            "torch.cat([self.keys[layer], v], dim=-2)",
            "The new values are joined to the old keys: values to values.",
        ),
        Slip(
            "only the new ones returned",
            KVCache.extend,
            "return k, v",
            "return k[..., -1:, :], v[..., -1:, :]",
            "Only the newest token's key and value are returned: the block needs all of them.",
        ),
        Slip(
            "only the new ones kept",
            KVCache.extend,
            JOIN + "\n        self.keys[layer], self.values[layer] = k, v\n        return k, v",
            "old = self.keys[layer], self.values[layer]\n"
            "            self.keys[layer], self.values[layer] = k, v\n"
            "            return torch.cat([old[0], k], -2), torch.cat([old[1], v], -2)\n"
            "        self.keys[layer], self.values[layer] = k, v; return k, v",
            "The right keys are returned, but only the new ones are kept: the next call has lost "
            "the older tokens.",
        ),
        Slip(
            "positions restarted",
            KVCache.read,
            "x = model.position(x, start)",
            "x = model.position(x)",
            "Every piece gets the positions 0, 1, ... again: new token t stands at start + t.",
        ),
        Slip(
            "rotary positions restarted",
            KVCache.read,
            "x = block(x, mask, start, self.at(layer))",
            "x = block(x, mask, 0, self.at(layer))",
            "The blocks are told that every piece starts at 0. With rotary positions the angles "
            "restart: pass `start`.",
        ),
        Slip(
            "mask without the start",
            KVCache.read,
            ".tril(start)",
            ".tril()",
            "The mask is cut as if the new tokens stood at 0: token t may look at the tokens 0 to "
            "start + t. Shift the diagonal by start.",
        ),
        Slip(
            "mask one too far",
            KVCache.read,
            ".tril(start)",
            ".tril(start + 1)",
            "Every token sees one token of the future: the diagonal of the mask is one too far.",
        ),
        Slip(
            "mask one too short",
            KVCache.read,
            ".tril(start)",
            ".tril(max(start - 1, 0))",
            "After the first piece no token sees itself: the diagonal is one too low.",
        ),
        Slip(
            "no mask among the new tokens",
            KVCache.read,
            ".tril(start)",
            "",
            "The new tokens see each other's future. For one token that is no harm; read several "
            "at once and it is.",
        ),
        Slip(
            "cache not used",
            KVCache.read,
            "x = block(x, mask, start, self.at(layer))",
            "self.at(layer).extend(*[block.attention.out(x).unflatten(-1, (block.attention.n_head,"
            " -1)).transpose(1, 2)] * 2); x = block(x, mask[:, start:], start)",
            "The blocks are called without the cache: new tokens see only each other.",
        ),
        Slip(
            "mask of numbers",
            KVCache.read,
            "dtype=torch.bool, ",
            "",
            "The mask is made of ones and zeros, which are *added* to the scores. It must be of "
            "dtype bool, where True means that looking is allowed.",
        ),
        Slip(
            "start counted anew in every block",
            KVCache.read,
            "x = block(x, mask, start, ",
            "x = block(x, mask, len(self), ",
            "After the first block the cache holds the new tokens too, so len(self) is no longer "
            "the start: count once, before the blocks.",
        ),
        Slip(
            "everything read again",
            KVCache.read,
            READ,
            READ_AGAIN,
            "The scores are right, but every call sends the whole text through the blocks again: "
            "what the cache is there to spare. Send the new tokens only.",
        ),
        Slip(
            "no last norm",
            KVCache.read,
            "model.head(model.norm(x))",
            "model.head(x)",
            "The norm before the head is missing.",
        ),
        Slip(
            "no positions",
            KVCache.read,
            "x = model.position(x, start)",
            "x = x",
            "The positions are not added.",
        ),
    ],
    equivalent={
        **{
            f"KVCache.extend: torch.cat([self.{kept}[layer], {new}], dim=-2) -> "
            f"torch.cat([self.{kept}[layer], {new}], dim=2)": "of four axes the last but one is 2"
            for kept, new in (("keys", "k"), ("values", "v"))
        },
        "KVCache.read: ids.size(-1) -> ids.size(1)": "with two axes the last one is axis 1",
        "KVCache.read: torch.ones(t, start + t, dtype=torch.bool, device=ids.device) -> "
        "torch.ones(t, start + t, dtype=torch.bool)": "the checks run where new tensors are made",
    },
)


def _search(own, name, table, start, end, width, n, options):
    """Search the texts of a table of odds, which rest on all tokens and on how many there are."""
    import torch

    given = list(start)

    def log_odds(ids):
        return table[ids.size(1) - len(start)][ids[:, :-1].sum(1) % table.size(1), ids[:, -1]]

    beams = getattr(own, name)(log_odds, given, end, width, n, **options)
    return {
        "texts": [[int(i) for i in ids] for _, ids in beams],
        "log-probabilities": torch.tensor([float(log_p) for log_p, _ in beams]),
        "start": given,
    }


def _texts(v=5, width=3, n=4, length=2, likely=0.0, ended=False, **options):
    def draw(d):
        end = int(d.integers(0, v))
        scores = d.normal(n + 1, v, v, v, std=1.0)  # one more than is asked for
        scores[..., end] += likely
        start = [int(i) for i in d.integers(0, v, length)]
        if ended:
            start[-1] = end
        return scores.log_softmax(-1), start, end, width, n, options

    return draw


LAST = "beams = sorted(candidates, key=rank, reverse=True)[:width]\n    return beams"
GROW = "candidates += [(log_p + p, [*ids, token]) for token, p in enumerate(row)]"
RANK = "return log_p / (len(ids) - len(start)) ** alpha"

CUT = "beams = sorted(candidates, key=rank, reverse=True)[:width]"
DIVIDED_LATE = Slip(
    "length used only at the end",
    beam_search,
    LAST,
    CUT.replace("key=rank, ", "") + "\n    return sorted(beams, key=rank, reverse=True)",
    "The rounds keep the texts with the highest log-probability, and the length counts only when "
    "the last ones are sorted: by then long texts have been cut. Use the rank in every round.",
)


def _cut_by_rank(d):
    """Draw until it shows in the texts that every round cuts by rank, not by log-probability."""
    searches = [beam_search, patched(DIVIDED_LATE)["beam_search"]]
    while True:
        drawn = _texts(likely=1.0, width=2, alpha=1.0)(d)
        seen = [_search(SimpleNamespace(by=by), "by", *drawn)["texts"] for by in searches]
        if seen[0] != seen[1]:
            return drawn


BEAMS = Exercise(
    beam_search,
    parts={"search": 8, "finished texts": 6, "length": 4},
    cases=[
        Case("search", "width 1", _texts(width=1, likely=-6.0), _search),
        Case("search", "width 3", _texts(likely=-6.0), _search),
        Case("search", "one round", _texts(n=1, width=2), _search),
        Case("search", "a longer start", _texts(length=4, likely=-6.0), _search),
        Case("finished texts", "as wide as can be", _texts(v=3, n=3, width=60), _search),
        Case("finished texts", "an end that comes often", _texts(likely=1.0, width=4), _search),
        Case("finished texts", "an end that comes at once", _texts(likely=4.0, width=2), _search),
        Case("finished texts", "a start that ends in the end", _texts(ended=True), _search),
        Case("length", "alpha = 1", _texts(likely=0.7, width=4, n=5, alpha=1.0), _search),
        Case("length", "alpha = 1, width 2", _cut_by_rank, _search),
        Case("length", "alpha = 0.6", _texts(v=3, n=3, width=60, alpha=0.6), _search),
        Case(
            "length",
            "alpha = 1, a longer start",
            _texts(likely=0.7, width=4, length=5, alpha=1.0),
            _search,
        ),
    ],
    slips=[
        Slip(
            "finished beams keep growing",
            beam_search,
            "return len(ids) > len(start) and ids[-1] == end",
            "return False",
            "Texts go on after their end. A finished text stays as it is, with its place and its "
            "log-probability.",
        ),
        Slip(
            "a start taken for finished",
            beam_search,
            "len(ids) > len(start) and ids[-1] == end",
            "ids[-1] == end",
            "A start whose last token is `end` counts as finished, and nothing is written. Only "
            "tokens after the start can end a text.",
        ),
        Slip(
            "finished beams lost",
            beam_search,
            "candidates = [beam for beam in beams if finished(beam[1])]",
            "candidates = []",
            "Finished texts fall out of the race: they are candidates too, as they are.",
        ),
        Slip(
            "stopped at the first end",
            beam_search,
            "if not growing:",
            "if len(growing) < len(beams):",
            "The search stops as soon as one text is finished; others may still become better. "
            "Stop when all that stayed are finished.",
        ),
        Slip(
            "finished beams put aside",
            beam_search,
            LAST,
            "beams = [b for b in candidates if finished(b[1])] + sorted([b for b in candidates if "
            "not finished(b[1])], key=rank, reverse=True)[:width]\n"
            "    return sorted(beams, key=rank, reverse=True)",
            "Finished texts are put aside and `width` others go on. Here they compete for the "
            "same places: the best `width` of all candidates stay.",
        ),
        Slip(
            "length not used",
            beam_search,
            RANK,
            "return log_p",
            "`alpha` changes nothing: divide the log-probability by length ** alpha, each text's "
            "by its own length; a finished text keeps its own.",
        ),
        Slip(
            "length as Wu et al. have it",
            beam_search,
            "(len(ids) - len(start)) ** alpha",
            "((5 + len(ids) - len(start)) / 6) ** alpha",
            "This is the formula of Wu et al., ((5 + length) / 6) ** alpha; asked for is "
            "length ** alpha.",
        ),
        DIVIDED_LATE,
        Slip(
            "length of the whole text",
            beam_search,
            "(len(ids) - len(start)) ** alpha",
            "len(ids) ** alpha",
            "The length counts the start too: only the tokens after it count.",
        ),
        Slip(
            "length without the end",
            beam_search,
            "(len(ids) - len(start)) ** alpha",
            "max(1, len(ids) - len(start) - finished(ids)) ** alpha",
            "The token `end` is left out of the length; it counts like any other.",
        ),
        Slip(
            "multiplied by the length",
            beam_search,
            "log_p / (len",
            "log_p * (len",
            "The log-probability is multiplied by length ** alpha, which punishes long texts "
            "twice: divide.",
        ),
        Slip(
            "rank returned",
            beam_search,
            LAST,
            LAST.replace("return beams", "return [(rank(beam), beam[1]) for beam in beams]"),
            "The rank is returned, divided by the length: the log-probability itself is asked for.",
        ),
        Slip(
            "the worst kept",
            beam_search,
            "reverse=True",
            "reverse=False",
            "The least probable texts stay: sort with the highest rank first.",
        ),
        Slip(
            "width for every text",
            beam_search,
            GROW + "\n        beams = sorted(candidates, key=rank, reverse=True)[:width]",
            "candidates += sorted([(log_p + p, [*ids, token]) for token, p in enumerate(row)]"
            ", key=rank, reverse=True)[:width]\n"
            "        beams = sorted(candidates, key=rank, reverse=True)",
            "Every text keeps its own `width` best, so their number grows with each round. All "
            "candidates compete: the best `width` of all stay.",
        ),
        Slip(
            "never branches",
            beam_search,
            GROW,
            "candidates += [max([(log_p + m, [*ids, k]) for k, m in enumerate(row)], key=rank)]",
            "Every text keeps only its best next token, so there is never more than one text.",
        ),
        Slip(
            "probabilities added",
            beam_search,
            "log_p + p, [*ids, token]",
            "log_p + 2.718281828459045**p, [*ids, token]",
            "Probabilities are added up. Those of a text multiply, so their logarithms add up.",
        ),
        Slip(
            "only the last token counts",
            beam_search,
            "(log_p + p, [*ids, token])",
            "(p, [*ids, token])",
            "A text has the log-probability of its last token only: add up those of all tokens.",
        ),
        Slip(
            "one round too many",
            beam_search,
            "range(n)",
            "range(n + 1)",
            "The texts grow by n + 1 tokens.",
        ),
        Slip(
            "only the best returned",
            beam_search,
            LAST,
            LAST.replace("return beams", "return beams[:1]"),
            "Only one text is returned: all that stayed are asked for, the best first.",
        ),
        Slip(
            "start left out",
            beam_search,
            LAST,
            LAST.replace("return beams", "return [(p, ids[len(start) :]) for p, ids in beams]"),
            "The texts come without their start, which belongs in front.",
        ),
    ],
    equivalent={
        "beam_search: zip(growing, rows, strict=True) -> zip(growing, rows, strict=False)": "there "
        "is a row for every text",
        "beam_search: zip(growing, rows, strict=True) -> zip(growing, rows)": "there is a row for "
        "every text",
        "beam_search: beam[1] -> beam[-1]": "a pair's second entry is its last",
        "beam_search: beam[1] -> beam[-1] (no. 2)": "a pair's second entry is its last",
        "beam_search: list(start) -> start": "no list is ever written into",
        "beam_search: log_odds(torch.tensor([ids for _, ids in growing])).tolist() -> "
        "log_odds(torch.tensor([ids for _, ids in growing]))": "a tensor without axes serves as a "
        "number",
    },
)


def puzzle() -> Puzzle:
    """How strongly each token acts on each score, where the mask forgot the tokens before."""
    slip = next(s for s in CACHE.slips if s.name == "mask without the start")
    d = Draw("puzzle of generate")
    config = _config(n_layer=1, block_size=6)
    model = GPT(GPTConfig(**config))
    model.load_state_dict(_weights(d, config))
    model.eval()
    ids = d.integers(0, 9, 1, 6)

    def scores(text):
        cache = patched(slip)["KVCache"](1)
        with torch.no_grad():
            pieces = [cache.read(model, piece) for piece in text.split([3, 1, 1, 1], dim=1)]
        return torch.cat(pieces, dim=1)[0]

    def changed(s):
        other = ids.clone()
        other[0, s] = (other[0, s] + 1) % 9
        return (scores(other) - scores(ids)).norm(dim=-1)

    table = torch.stack([changed(s) for s in range(6)], dim=1)
    title = "change of scores t when token s is another (tokens 0-2 read at once)"
    return Puzzle(table, title, "scores t", "token s")


WHICH_LINE = Choice(
    "which_line",
    points=6,
    right="b",
    answers={
        "a": "With restarted positions the scores would be wrong, but every token would still see "
        "all before it: nothing below the diagonal would be empty.",
        "b": "Right for the first three, which are read at once: there start is 0. After that the "
        "mask has one row, and its diagonal is column 0: a new token sees the very first token "
        "and, through the residual connection, itself.",
        "c": "Without the cache a token that is read alone would depend on itself only; here the "
        "first token acts on all of them.",
        "d": "With a mask that is True everywhere the first three would see each other's future: "
        "the cells above the diagonal would be filled.",
    },
)


def _narrow_or_wide(own, seed):
    """Search the texts of twenty tables with the search under test."""
    from solutions.studies.table_model import widths_and_lengths

    found = widths_and_lengths(own.beam_search, seed)
    narrow, wide = found["width 1"], found["width 8"]
    return {
        "narrow": float(narrow["length"]),
        "wide": float(wide["length"]),
        "narrow_p": float(narrow["log-probability"]),
        "wide_p": float(wide["log-probability"]),
        "fair": float(found["width 8, alpha 1"]["length"]),
    }


def _what_width_does(measured: dict) -> str:
    if measured["wide_p"] < measured["narrow_p"]:
        return "d"
    if measured["wide"] < 0.6 * measured["narrow"]:
        return "b"
    return "a" if measured["wide"] > 1.2 * measured["narrow"] else "c"


WHAT_WIDTH_DOES = Conclusion(
    "what_width_does",
    points=6,
    probe=_narrow_or_wide,
    inputs=(0,),
    decide=_what_width_does,
    measures=[beam_search],
    answers={
        letter: "With {whose} search, width 1 wrote {narrow:.1f} tokens at a log-probability of "
        "{narrow_p:.1f}, width 8 wrote {wide:.1f} at {wide_p:.1f}; divided by the length, width 8 "
        "wrote {fair:.1f}."
        for letter in "abcd"
    },
)

QUESTIONS = [TOP_K, TOP_P, SAMPLE, CACHE, BEAMS, WHICH_LINE, WHAT_WIDTH_DOES]
