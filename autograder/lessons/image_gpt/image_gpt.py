"""ImageGPT: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.image_gpt.shared import drawn_config, drawn_weights
from solutions.image_gpt import ImageGPT


def _scores(own, name, config, weights, ids):
    """Build a model, load its weights, score the pixels after those given; and its gradients."""
    import torch

    from autograder.seam.probe import push
    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    model.load_state_dict(weights)
    model.to(weights["gpt.token.weight"].dtype).eval()
    given = ids.clone()
    model(given[:1])  # what one call keeps must not show in the next
    result = model(given)
    seen = {"result": result, "inputs": given, "gradients": [None]}
    if isinstance(result, torch.Tensor) and result.requires_grad:
        table = model.gpt.token.weight
        seen["gradients"] = list(torch.autograd.grad((result * push(result)).sum(), [table]))
    return seen


def _bits(own, name, config, weights, images, turned):
    """Build a model, load its weights, ask for the bits of every pixel; and its gradients."""
    import torch

    from autograder.seam.probe import push
    from solutions.gpt_block import GPTConfig

    model = getattr(own, name)(GPTConfig(**config))
    model.load_state_dict(weights)
    model.eval()
    given = images.clone()
    result = model.bits(given.mT if turned else given)
    seen = {"result": result, "inputs": given, "gradients": [None]}
    if isinstance(result, torch.Tensor) and result.requires_grad:
        table = model.gpt.token.weight
        seen["gradients"] = list(torch.autograd.grad((result * push(result)).sum(), [table]))
    return seen


def _some(n=None, b=None, dtype=torch.float32, unused=0, **options):
    """Draw a model and the first pixels of images that lack the last `unused` colours."""

    def draw(d):
        k, size, long = d.sizes(3, 3, 7)
        count = long if n is None else n
        config = drawn_config(d, max(count + 1, 3), k, **options)
        return config, drawn_weights(d, config, dtype), d.integers(0, k - unused, b or size, count)

    return draw


def _pictures(rows=None, columns=None, b=None, turned=False, spare=1, **options):
    def draw(d):
        k, size, r, c = d.sizes(4, 2, 6)
        r, c = rows or r, columns or c
        config = drawn_config(d, r * c + spare, k, **options)
        shape = (c, r) if turned else (r, c)
        return config, drawn_weights(d, config), d.integers(0, k, b or size, *shape), turned

    return draw


IN_COLUMNS = """ids = images.mT.flatten(1)  # (B, N)
        scores = self(ids[:, :-1])  # (B, N, K)
        nats = F.cross_entropy(scores.transpose(1, 2), ids, reduction="none")  # (B, N)
        return (nats / math.log(2)).view(images.mT.shape).mT"""


IN_ROWS = IN_COLUMNS.replace("images.mT.shape).mT", "images.shape)").replace("images.mT", "images")


QUESTION = Exercise(
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
