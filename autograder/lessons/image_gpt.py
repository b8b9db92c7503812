"""image_gpt: a palette, the model of pixels, its completions, and a probe of what it knows."""

import torch

from autograder.exercise import Case, Choice, Conclusion, Draw, Exercise, args
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.gpt_block import GPTConfig
from solutions.image_gpt import ImageGPT, complete_image
from solutions.linear_probe import linear_probe
from solutions.palette import fit_palette, quantise


def _pixels(*shape, k=None, channels=None, dtype=torch.float32):
    def draw(d):
        sizes = d.sizes(4, 3, 8)
        leading = shape or sizes[:2]
        colours, d_colour = k or sizes[2], channels or sizes[3]
        return args(
            d.normal(*leading, d_colour, dtype=dtype), d.normal(colours, d_colour, dtype=dtype)
        )

    return draw


def _equally_near(d):
    """Whole numbers, and a palette that holds a colour twice: which of two equal ones?"""
    palette = torch.tensor([[4.0], [0.0], [2.0], [0.0]])
    return args(d.integers(0, 5, 3, 6, 1).float(), palette)


def _lone_pixel(d):
    """A pixel by itself, with no axis in front."""
    return args(d.normal(3), d.normal(5, 3))


def _turned(d):
    """Images whose channels came first and were moved: not contiguous."""
    return args(d.normal(2, 3, 4, 5).movedim(1, -1), d.normal(6, 3))


NEAREST = "return gaps.square().sum(-1).argmin(-1)"

QUANTISE = Exercise(
    quantise,
    parts={"colours": 6, "grey": 3, "ties": 3},
    cases=[
        Case("colours", "pixels of several channels", _pixels()),
        Case("colours", "images of three channels", _pixels(2, 5, 4, k=7, channels=3)),
        Case("colours", "channels moved to the end", _turned),
        Case("colours", "one pixel", _pixels(1, k=5, channels=3)),
        Case("colours", "a pixel by itself", _lone_pixel),
        Case("colours", "float64", _pixels(dtype=torch.float64)),
        Case("grey", "grey pixels", _pixels(3, 7, k=5, channels=1)),
        Case("grey", "a palette of one colour", _pixels(4, k=1, channels=1)),
        Case("ties", "colours equally near", _equally_near),
    ],
    slips=[
        Slip(
            "sum of absolute differences",
            quantise,
            "gaps.square()",
            "gaps.abs()",
            "The nearest colour is sought by the sum of absolute differences. Euclidean distance "
            "is asked for: square the differences, then add.",
        ),
        Slip(
            "largest channel difference",
            quantise,
            "gaps.square().sum(-1)",
            "gaps.abs().amax(-1)",
            "Only the channel that differs most decides. Euclidean distance adds the squares "
            "of all channels.",
        ),
        Slip(
            "farthest colour",
            quantise,
            ".argmin(-1)",
            ".argmax(-1)",
            "This is the colour farthest away: argmax of a distance. Take argmin.",
        ),
        Slip(
            "largest product",
            quantise,
            NEAREST,
            "return (pixels.unsqueeze(-2) * palette).sum(-1).argmax(-1)",
            "The colour with the largest product is taken, as in attention: a bright colour wins "
            "everywhere. The smallest distance is asked for.",
        ),
        Slip(
            "differences with their sign",
            quantise,
            "gaps.square().sum(-1)",
            "gaps.sum(-1)",
            "Differences are added with their signs: too dark in one channel makes up for too "
            "bright in another. Square them first.",
        ),
        Slip(
            "first channel only",
            quantise,
            "gaps.square().sum(-1)",
            "gaps.square()[..., 0]",
            "Only the first channel is compared; the distance is over all D of them.",
        ),
        Slip(
            "colours instead of numbers",
            quantise,
            NEAREST,
            "return palette[gaps.square().sum(-1).argmin(-1)]",
            "The nearest colours come back; asked for are their numbers in the palette.",
        ),
        Slip(
            "ties to the later colour",
            quantise,
            NEAREST,
            "return len(palette) - 1 - gaps.square().sum(-1).flip(-1).argmin(-1)",
            "Where two colours are equally near, the one with the higher number is taken; "
            "the lower is asked for.",
        ),
    ],
    equivalent={
        "quantise: pixels.unsqueeze(-2) - palette -> palette - pixels.unsqueeze(-2)": "the "
        "difference is squared",
    },
)


def _cloud(d, n, k, channels, dtype=torch.float32, **keywords):
    """Pixels around k places, and starting colours drawn apart from them."""
    places = d.normal(k, channels, std=3.0)
    pixels = places[d.integers(0, k, n)] + d.normal(n, channels, std=0.8)
    return [pixels.to(dtype), d.normal(k, channels, std=2.0, dtype=dtype)], keywords, False


def _lonely(d):
    """A starting colour so far off that no pixel is ever nearest to it."""
    (pixels, centres), keywords, gradient = _cloud(d, 30, 4, 2, rounds=4)
    centres[1] = 90.0
    return [pixels, centres], keywords, gradient


def _left_alone(d):
    """A colour that has a pixel in the first round and none in the second."""
    pixels = torch.tensor([[-1.7], [-1.7], [-1.0], [1.0], [1.7]])
    return [pixels, torch.tensor([[-3.0], [0.2], [3.0]])], {"rounds": 2}, False


def _dim(d):
    """Pixels so dark that every move is small."""
    (pixels, centres), keywords, gradient = _cloud(d, 400, 9, 1, rounds=19)
    return [1e-3 * pixels, 1e-3 * centres], keywords, gradient


PALETTE = Exercise(
    fit_palette,
    parts={
        "one round": 5,
        "many rounds": 6,
        "colours without pixels": 3,
        "arguments left alone": 1,
    },
    cases=[
        Case("one round", "one round, colours", lambda d: _cloud(d, 25, 4, 3, rounds=1)),
        Case("one round", "one round, grey", lambda d: _cloud(d, 20, 5, 1, rounds=1)),
        Case("one round", "one colour for all", lambda d: _cloud(d, 9, 1, 2, rounds=1)),
        Case("one round", "float64", lambda d: _cloud(d, 18, 3, 2, torch.float64, rounds=1)),
        Case("many rounds", "three rounds", lambda d: _cloud(d, 60, 5, 3, rounds=3)),
        Case("many rounds", "as many rounds as usual", lambda d: _cloud(d, 90, 6, 2)),
        Case("many rounds", "no round", lambda d: _cloud(d, 12, 3, 2, rounds=0)),
        Case(
            "many rounds", "fewer rounds than it needs", lambda d: _cloud(d, 400, 9, 1, rounds=19)
        ),
        Case("many rounds", "fewer rounds than it needs, in the dark", _dim),
        Case("colours without pixels", "a colour that nobody wants", _lonely),
        Case("colours without pixels", "a colour that is left alone", _left_alone),
    ],
    slips=[
        Slip(
            "one round only",
            fit_palette,
            "for _ in range(rounds):",
            "for _ in range(min(rounds, 1)):",
            "The pixels are assigned once and the colours move once. Then other colours may be "
            "nearest: assign anew and move again, in every one of `rounds` rounds.",
        ),
        Slip(
            "empty colours become black",
            fit_palette,
            "centres = torch.where(count > 0, means, centres)",
            "centres = means",
            "A colour without pixels moves to 0. It should stay where it is.",
        ),
        Slip(
            "empty colours become NaN",
            fit_palette,
            "means = own.to(pixels.dtype) @ pixels / count.clamp(min=1)\n"
            "        centres = torch.where(count > 0, means, centres)",
            "means = own.to(pixels.dtype) @ pixels / count\n        centres = means",
            "A colour without pixels becomes 0 / 0 = NaN. It should stay where it is.",
        ),
        Slip(
            "divided by all pixels",
            fit_palette,
            "/ count.clamp(min=1)",
            "/ len(pixels)",
            "The sum of a colour's pixels is divided by the number of all pixels: divide by "
            "the number of its own.",
        ),
        Slip(
            "half a step",
            fit_palette,
            "centres = torch.where(count > 0, means, centres)",
            "centres = torch.where(count > 0, (means + centres) / 2, centres)",
            "The colours move half of the way. In k-means they go to the mean of their pixels.",
        ),
        Slip(
            "median",
            fit_palette,
            "means = own.to(pixels.dtype) @ pixels / count.clamp(min=1)",
            "means = torch.stack([pixels[o].nanmedian(0).values if o.any() else c"
            " for o, c in zip(own, centres)])",
            "The colours move to the median of their pixels; the mean is asked for: it makes "
            "the squared distance smallest.",
        ),
        Slip(
            "palette sorted",
            fit_palette,
            "    return centres",
            "    return centres[centres[:, 0].argsort()]",
            "The colours come back in another order: colour k should be what starting colour "
            "k has become.",
        ),
        Slip(
            "starting colours changed",
            fit_palette,
            "centres = torch.where(count > 0, means, centres)",
            "centres.copy_(torch.where(count > 0, means, centres))",
            "The starting colours that were handed in are overwritten: work on a copy.",
        ),
    ],
    equivalent={
        "fit_palette: count.clamp(min=1) -> count": "where the count is 0 the mean is not used",
        "fit_palette: count.clamp(min=1) -> count.clamp(min=-1)": "a count is never negative",
        "fit_palette: count.clamp(min=1) -> count.clamp(min=0)": "a count is never negative",
        "fit_palette: own.sum(-1, keepdim=True) -> own.sum(1, keepdim=True)": "there are two axes",
        "fit_palette: torch.arange(len(centres), device=pixels.device) -> "
        "torch.arange(len(centres))": "the same on a CPU",
        "fit_palette: torch.arange(len(centres), device=pixels.device).unsqueeze(-1) -> "
        "torch.arange(len(centres), device=pixels.device).unsqueeze(1)": "the same axis",
    },
)


def _scores(own, name, config, weights, ids):
    """Build a model, load its weights, score the pixels after those given; and its gradients."""
    import torch

    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    model.load_state_dict(weights)
    model.to(weights["gpt.token.weight"].dtype).eval()
    given = ids.clone()
    model(given[:1])  # what one call keeps must not show in the next
    result = model(given)
    seen = {"result": result, "inputs": given, "gradients": [None]}
    if isinstance(result, torch.Tensor) and result.requires_grad:
        push = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
        table = model.gpt.token.weight
        seen["gradients"] = list(torch.autograd.grad((result * push).sum(), [table]))
    return seen


def _bits(own, name, config, weights, images, turned):
    """Build a model, load its weights, ask for the bits of every pixel; and its gradients."""
    import torch

    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    model.load_state_dict(weights)
    model.eval()
    given = images.clone()
    result = model.bits(given.mT if turned else given)
    seen = {"result": result, "inputs": given, "gradients": [None]}
    if isinstance(result, torch.Tensor) and result.requires_grad:
        push = torch.cos(torch.arange(result.numel(), dtype=result.dtype)).reshape(result.shape)
        table = model.gpt.token.weight
        seen["gradients"] = list(torch.autograd.grad((result * push).sum(), [table]))
    return seen


def _config(d, n_pixel: int, k: int, **options) -> dict:
    sizes = {"vocab_size": k + 1, "block_size": n_pixel, "n_layer": 1, "n_head": 2, "n_embd": 6}
    return {**sizes, "tied": False, **options}


def _weights(d, config: dict, dtype=torch.float32) -> dict:
    shapes = ImageGPT(GPTConfig(**config)).state_dict()
    weights = {
        k: d.normal(*v.shape, std=0.6 if v.ndim > 1 else 1.0, dtype=dtype) + 0.5 * ("norm" in k)
        for k, v in shapes.items()
    }
    if config["tied"]:
        weights["gpt.head.weight"] = weights["gpt.token.weight"]
    return weights


def _some(n=None, b=None, dtype=torch.float32, unused=0, **options):
    """Draw a model and the first pixels of images that lack the last `unused` colours."""

    def draw(d):
        k, size, long = d.sizes(3, 3, 7)
        count = long if n is None else n
        config = _config(d, max(count + 1, 3), k, **options)
        return config, _weights(d, config, dtype), d.integers(0, k - unused, b or size, count)

    return draw


def _pictures(rows=None, columns=None, b=None, turned=False, spare=1, **options):
    def draw(d):
        k, size, r, c = d.sizes(4, 2, 6)
        r, c = rows or r, columns or c
        config = _config(d, r * c + spare, k, **options)
        shape = (c, r) if turned else (r, c)
        return config, _weights(d, config), d.integers(0, k, b or size, *shape), turned

    return draw


IN_COLUMNS = """ids = images.mT.flatten(1)  # (B, N)
        scores = self(ids[:, :-1])  # (B, N, K)
        nats = F.cross_entropy(scores.transpose(1, 2), ids, reduction="none")  # (B, N)
        return (nats / math.log(2)).view(images.mT.shape).mT"""
IN_ROWS = IN_COLUMNS.replace("images.mT.shape).mT", "images.shape)").replace("images.mT", "images")

MODEL = Exercise(
    ImageGPT,
    parts={"scores": 10, "bits": 9, "gradient": 3},
    cases=[
        Case("scores", "a batch of pixels", _some(), _scores),
        Case("scores", "no pixel yet", _some(n=0), _scores),
        Case("scores", "pixels without the last colour", _some(unused=1), _scores),
        Case("scores", "a tied table", _some(tied=True), _scores),
        Case("scores", "float64", _some(dtype=torch.float64), _scores),
        Case("bits", "images", _pictures(), _bits),
        Case("bits", "one image", _pictures(b=1), _bits),
        Case("bits", "images of one row, and no place to spare", _pictures(1, 5, spare=0), _bits),
        Case("bits", "images of one pixel", _pictures(rows=1, columns=1), _bits),
        Case("bits", "images lying on their side", _pictures(turned=True), _bits),
    ],
    slips=[
        Slip(
            "start token missing",
            ImageGPT.forward,
            "scores = self.gpt(torch.cat([start, ids], dim=1))  # (B, N + 1, K + 1)",
            "scores = self.gpt(torch.cat([ids, start], dim=1))  # (B, N + 1, K + 1)",
            "The start token does not stand before the first pixel, so that the scores for pixel n "
            "come from a place that has read pixel n itself.",
        ),
        Slip(
            "a colour as start token",
            ImageGPT.forward,
            "self.gpt.config.vocab_size - 1)",
            "0)",
            "The image starts with colour 0 instead of the start token, whose id is K.",
        ),
        Slip(
            "start token counted from the pixels",
            ImageGPT.forward,
            "self.gpt.config.vocab_size - 1)",
            "ids.max() + 1 if ids.numel() else self.gpt.config.vocab_size - 1)",
            "The start token is one more than the largest colour in these images, which need not "
            "be the last of the palette: its id is K, config.vocab_size - 1.",
        ),
        Slip(
            "start token among the answers",
            ImageGPT.forward,
            "scores[..., :-1]",
            "scores",
            "The start token is scored as if it could be a pixel: leave the last column out.",
        ),
        Slip(
            "last place cut off",
            ImageGPT.forward,
            "scores[..., :-1]",
            "scores[:, :-1, :-1]",
            "The scores for pixel N are missing: N pixels and the start token make N + 1 places.",
        ),
        Slip(
            "start token's scores cut off",
            ImageGPT.forward,
            "scores[..., :-1]",
            "scores[:, 1:, :-1]",
            "The scores at the start token are cut off; they are those for the first pixel.",
        ),
        Slip(
            "first colour left out",
            ImageGPT.forward,
            "scores[..., :-1]",
            "scores[..., 1:]",
            "The first column is left out, which is colour 0. The start token is the last.",
        ),
        Slip(
            "probabilities instead of scores",
            ImageGPT.forward,
            "scores[..., :-1]",
            "scores[..., :-1].softmax(-1)",
            "Probabilities come back: scores before any softmax are asked for.",
        ),
        Slip(
            "nats for bits",
            ImageGPT.bits,
            "(nats / math.log(2))",
            "nats",
            "This is in nats. A bit is log 2 = 0.693 nats: divide by it.",
        ),
        Slip(
            "multiplied by log 2",
            ImageGPT.bits,
            "nats / math.log(2)",
            "nats * math.log(2)",
            "The nats are multiplied by log 2; there are more bits than nats: divide.",
        ),
        Slip(
            "raster order transposed",
            ImageGPT.bits,
            IN_ROWS,
            IN_COLUMNS,
            "The image is read column by column. Raster order goes through the top row first.",
        ),
        Slip(
            "only the mean",
            ImageGPT.bits,
            "return (nats / math.log(2)).view(images.shape)",
            "return (nats / math.log(2)).mean()",
            "The mean over all pixels comes back; the bits of every pixel are asked for.",
        ),
        Slip(
            "pixels read before they are asked for",
            ImageGPT.bits,
            "self(ids[:, :-1])",
            "self(ids)[:, 1:]",
            "The scores are shifted by one: those for pixel n must come from the pixels before n.",
        ),
        Slip(
            "no gradient",
            ImageGPT.bits,
            "scores.transpose(1, 2)",
            "scores.detach().transpose(1, 2)",
            "The bits are right, but no gradient reaches the model: it could not learn from them.",
        ),
    ],
    equivalent={
        "ImageGPT.forward: torch.cat([start, ids], dim=1) -> "
        "torch.cat([start, ids], dim=-1)": "there are two axes",
    },
)


def _complete(own, name, place, table, images, rows, draws):
    """Complete images with a small causal model: its scores rest on the place and on the past.

    It has places for the start token and all pixels but the last, as many as it needs. What it
    reads beyond them is told, not refused.
    """
    import torch

    longest = [0]

    def model(ids):
        longest.append(ids.size(1) + 1)
        places = place[torch.arange(longest[-1]).clamp(max=len(place) - 1)]
        past = torch.cumsum(table[ids] * places[:-1, :1], dim=1)  # (B, N, K)
        past = torch.cat([torch.zeros(len(ids), 1, table.size(1)), past], dim=1)
        return places + past

    given, numbers = images.clone(), draws.clone()
    result = getattr(own, name)(model, given, rows, numbers)
    seen = {"result": result, "too many pixels for the model": max(longest) > len(place)}
    return seen | {"inputs": [given, numbers]}


def _halves(rows=None, b=None, r=None, c=None):
    def draw(d):
        k, size, high, wide = d.sizes(4, 3, 6)
        high, wide = r or high, c or wide
        kept = high // 2 if rows is None else rows
        place, table = d.normal(high * wide, k), d.normal(k, k, std=0.7)
        images = d.integers(0, k, b or size, high, wide)
        draws = torch.rand(images.shape, generator=d.generator)
        return place, table, images, kept, draws

    return draw


def _large(d):
    """Scores whose exponentials overflow."""
    place, *rest = _halves()(d)
    return place + 200, *rest


def _exact(d):
    """Four colours with even odds, and numbers that meet a sum exactly."""
    images, draws = d.integers(0, 4, 3, 4, 2), d.integers(0, 4, 3, 4, 2) / 4
    return torch.zeros(8, 4), torch.zeros(4, 4), images, 1, draws


def _rounding(d):
    """Odds whose sum stays below the largest number under 1, as floats add up."""
    top = 1 - 2.0**-24
    for _ in range(10_000):
        scores = torch.randn(11, generator=d.generator)
        scores[-1] = 2.0  # the last colour is likely: no other is near
        if float(scores.softmax(-1).cumsum(-1)[-1]) <= top:
            break
    place = scores.repeat(4, 1)
    return place, torch.zeros(11, 11), d.integers(0, 11, 1, 2, 2), 1, torch.full((1, 2, 2), top)


DRAWN = "passed = (sums <= draws[:, n : n + 1]).sum(-1)  # (B)"

COMPLETE = Exercise(
    complete_image,
    parts={"completed": 10, "from nothing": 3, "how it is drawn": 4, "arguments left alone": 1},
    cases=[
        Case("completed", "the lower half", _halves(), _complete),
        Case("completed", "one image", _halves(b=1), _complete),
        Case("completed", "square images", _halves(r=4, c=4, b=3), _complete),
        Case("completed", "all but the first row", _halves(rows=1), _complete),
        Case("completed", "nothing to do", _halves(r=3, rows=3), _complete),
        Case("from nothing", "new images", _halves(rows=0), _complete),
        Case("from nothing", "images of one pixel", _halves(r=1, c=1, rows=0), _complete),
        Case("how it is drawn", "even odds, numbers on the border", _exact, _complete),
        Case("how it is drawn", "a sum that stays below", _rounding, _complete),
        Case("how it is drawn", "large scores", _large, _complete),
    ],
    slips=[
        Slip(
            "true lower half seen",
            complete_image,
            "model(ids[:, :n])",
            "model(images.flatten(1)[:, :n])",
            "The model is shown the true pixels below instead of those it has drawn: every pixel "
            "is easy, and the completion says nothing.",
        ),
        Slip(
            "the whole image read",
            complete_image,
            "model(ids[:, :n])[:, -1]",
            "model(ids)[:, n]",
            "The model is given all R * W pixels, and with the start token that is one more than "
            "it has places for. Give it the pixels before this one: ids[:, :n].",
        ),
        Slip(
            "always the likeliest colour",
            complete_image,
            DRAWN,
            "passed = scores.argmax(-1)  # (B)",
            "The likeliest colour is taken everywhere, so that all completions of an image are "
            "equal. Draw with the given numbers.",
        ),
        Slip(
            "raster order transposed",
            complete_image,
            "ids, draws = images.flatten(1).clone(), draws.flatten(1)  # (B, N)",
            "ids, draws = images.mT.flatten(1), draws.mT.flatten(1)  # (B, N)",
            "The image is laid out column by column. Raster order goes through the top row first.",
        ),
        Slip(
            "one number for all pixels",
            complete_image,
            "draws[:, n : n + 1]",
            "draws[:, :1]",
            "Every pixel is drawn with the number of the first. Each has its own in `draws`.",
        ),
        Slip(
            "numbers taken from the start",
            complete_image,
            "draws[:, n : n + 1]",
            "draws[:, n - rows * images.size(2) : n - rows * images.size(2) + 1]",
            "The numbers are used up from the start of `draws`; each pixel has the number at "
            "its own place.",
        ),
        Slip(
            "scores of the first pixel",
            complete_image,
            "[:, -1]  # (B, K)",
            "[:, 0]  # (B, K)",
            "The scores for the first pixel are used at every place: the next pixel's are the "
            "last ones.",
        ),
        Slip(
            "rows counted as pixels",
            complete_image,
            "range(rows * images.size(2),",
            "range(rows,",
            "`rows` pixels are kept; asked for are that many rows, each W pixels wide.",
        ),
        Slip(
            "nothing kept",
            complete_image,
            "range(rows * images.size(2), ids.size(1))",
            "range(ids.size(1))",
            "The whole image is drawn anew; its first rows should stay.",
        ),
        Slip(
            "softmax left out",
            complete_image,
            "scores.softmax(-1).cumsum(-1)",
            "scores.cumsum(-1)",
            "Scores are added up as if they were probabilities: softmax first.",
        ),
        Slip(
            "softmax over the images",
            complete_image,
            "scores.softmax(-1)",
            "scores.softmax(0)",
            "The softmax runs over the images of the batch; it must run over the colours.",
        ),
        Slip(
            "border to the lower colour",
            complete_image,
            "(sums <= draws",
            "(sums < draws",
            "Where the sum meets the number exactly, the lower colour is taken; the first sum that "
            "is greater is asked for.",
        ),
        Slip(
            "images changed",
            complete_image,
            "images.flatten(1).clone()",
            "images.view(len(images), -1)",
            "The images that were handed in are overwritten: work on a copy.",
        ),
    ],
    equivalent={
        f"complete_image: {old} -> {new}": "there are two axes"
        for old, new in {
            "(sums <= draws[:, n:n + 1]).sum(-1)": "(sums <= draws[:, n:n + 1]).sum(1)",
            "ids.size(1)": "ids.size(-1)",
            "scores.size(-1)": "scores.size(1)",
            "scores.softmax(-1)": "scores.softmax(1)",
            "scores.softmax(-1).cumsum(-1)": "scores.softmax(-1).cumsum(1)",
        }.items()
    },
)


def _labelled(n=None, f=None, k=None, dtype=torch.float32, known=None, **keywords):
    def draw(d):
        width, classes, extra = d.sizes(3, 3, 6)
        width, classes = f or width, k or classes
        count = n or 3 * width + extra
        labels = d.integers(0, known or classes, count)
        features = d.normal(count, width, dtype=dtype) + labels.unsqueeze(-1) * 0.3
        return [features, labels, classes], keywords, False

    return draw


SOLVE = "return torch.linalg.solve(x.T @ x + penalty * held.diag(), x.T @ y)"

PROBE = Exercise(
    linear_probe,
    parts={"weights": 8, "few labels": 4},
    cases=[
        Case("weights", "labelled features", _labelled()),
        Case("weights", "a strong penalty", _labelled(penalty=40.0)),
        Case("weights", "float64", _labelled(dtype=torch.float64, penalty=0.3)),
        Case("weights", "one feature", _labelled(f=1, n=9)),
        Case("few labels", "a class without examples", _labelled(n=14, k=5, known=3)),
        Case("few labels", "fewer images than features", _labelled(n=4, f=7, dtype=torch.float64)),
    ],
    slips=[
        Slip(
            "penalty forgotten",
            linear_probe,
            "x.T @ x + penalty * held.diag()",
            "x.T @ x + 1e-9 * held.diag()",
            "The penalty does not enter: add it to the diagonal of X^T X.",
        ),
        Slip(
            "bias held down",
            linear_probe,
            "    held[-1] = 0",
            "    pass",
            "The penalty also holds the row of the ones down: the last place of I is 0.",
        ),
        Slip(
            "ones in front",
            linear_probe,
            "torch.cat([features, features.new_ones(len(features), 1)], dim=1)",
            "torch.cat([features.new_ones(len(features), 1), features], dim=1)",
            "The column of ones stands first; it belongs after the last feature.",
        ),
        Slip(
            "no column of ones",
            linear_probe,
            "x = torch.cat([features, features.new_ones(len(features), 1)], dim=1)",
            "x = torch.cat([features, features.new_zeros(len(features), 1)], dim=1)"
            " + 1e-9 * torch.eye(len(features), features.size(1) + 1).to(features)",
            "There is no bias: append a column of ones to the features.",
        ),
        Slip(
            "penalty times the number of images",
            linear_probe,
            "penalty * held",
            "penalty * len(x) * held",
            "The penalty is multiplied by the number of images, or the squares are averaged: "
            "they are summed here.",
        ),
        Slip(
            "penalty squared",
            linear_probe,
            "penalty * held",
            "penalty**2 * held",
            "The penalty is squared before it is added.",
        ),
        Slip(
            "targets of minus one",
            linear_probe,
            "F.one_hot(labels, n_class).to(x.dtype)",
            "F.one_hot(labels, n_class).to(x.dtype) * 2 - 1",
            "The targets are 1 and -1; asked for are 1 and 0.",
        ),
        Slip(
            "weights lying on their side",
            linear_probe,
            SOLVE,
            SOLVE + ".T",
            "The weights come back as (n_class, F + 1): transpose them.",
        ),
        Slip(
            "features normalised first",
            linear_probe,
            "    x = torch.cat([features,",
            "    features = (features - features.mean(0)) / features.std(0)"
            "; x = torch.cat([features,",
            "The features are normalised before the fit, so that the weights do not fit the "
            "features that come in.",
        ),
    ],
    equivalent={
        "linear_probe: torch.cat([features, features.new_ones(len(features), 1)], dim=1) -> "
        "torch.cat([features, features.new_ones(len(features), 1)], dim=-1)": "there are two axes",
        "linear_probe: x.size(1) -> x.size(-1)": "there are two axes",
    },
)


def puzzle() -> Puzzle:
    """How strongly each pixel acts on one pixel's price, when images are read by columns."""
    slip = next(s for s in MODEL.slips if s.name == "raster order transposed")
    draw, rows, columns = Draw("puzzle"), 5, 6
    config = _config(draw, rows * columns, 4, n_embd=12, n_layer=2)
    model = patched(slip)["ImageGPT"](GPTConfig(**config))
    model.load_state_dict(_weights(draw, config))
    images, leaves = draw.integers(0, 4, 1, rows, columns), []

    def watch(layer, inputs, output):
        leaves.append(output.detach().requires_grad_())
        return leaves[0]

    handle = model.gpt.token.register_forward_hook(watch)
    model.bits(images)[0, 2, 3].backward()
    handle.remove()
    acts = leaves[0].grad[0, 1:].norm(dim=-1)  # one number for every pixel read, but the last
    table = torch.cat([acts, torch.zeros(1)]).view(columns, rows).T
    title = "how strongly each pixel acts on the price of the pixel in row 2, column 3"
    return Puzzle(table / table.max(), title, "row", "column")


WHICH_LINE = Choice(
    "which_line",
    points=6,
    right="c",
    answers={
        "a": "Then every pixel but the last would act, also those to the right and below.",
        "b": "Then pixel (2, 3) would act on its own price, and the rows above would be full.",
        "c": "The full columns to the left act and the pixels above in the same column: the "
        "image was read column by column.",
        "d": "The number of rows that are kept has no part in a price: the rows above would be "
        "full, and of row 2 the pixels to the left.",
    },
)


def _stripes(own, steps, seed):
    """Train on images of level stripes; what the pixels of each column and of each row cost."""
    import torch

    from solutions.gpt_block import GPTConfig

    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)

    def draw(n):
        return torch.randint(2, (n, 4, 1), generator=generator).expand(n, 4, 4)

    model = own.ImageGPT(GPTConfig(3, 16, n_layer=1, n_head=2, n_embd=16, std=0.15))
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for _ in range(steps):
        loss = model.bits(draw(16)).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        cost = model.bits(draw(100)).mean(0)
    return {
        "left": float(cost[:, 0].mean()),
        "others": float(cost[:, 1:].mean()),
        "top": float(cost[0].mean()),
        "below": float(cost[1:].mean()),
    }


def _where(measured: dict) -> str:
    if measured["others"] > 0.7:
        return "d"
    if measured["left"] > 2 * measured["others"]:
        return "c"
    return "b" if measured["top"] > 2 * measured["below"] else "a"


WRONG = (
    "With {whose} code a pixel of the left column cost {left:.2f} bits, one of the other columns "
    "{others:.2f}."
)

STRIPES = Conclusion(
    "where_the_bits_go",
    points=7,
    probe=_stripes,
    inputs=(60, 0),
    decide=_where,
    measures=[ImageGPT],
    answers={
        "a": WRONG,
        "b": WRONG,
        "c": "A pixel of the left column cost {left:.2f} bits, one of the others {others:.2f}. "
        "Raster order meets every stripe at its left end: there the coin falls, and the rest of "
        "the row repeats it.",
        "d": WRONG,
    },
)

QUESTIONS = [QUANTISE, PALETTE, MODEL, COMPLETE, PROBE, WHICH_LINE, STRIPES]
