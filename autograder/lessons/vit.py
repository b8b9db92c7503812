"""vit: cutting patches, the embedding, the whole model, positions for another size, rollout."""

import torch

from autograder.exercise import (
    ARGUMENTS,
    GRADIENT,
    Case,
    Choice,
    Conclusion,
    Exercise,
    args,
    built,
)
from autograder.probe import module
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.vit import PatchEmbedding, ViT, attention_rollout, interpolate_positions, patchify

CUT = (
    "x = images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))\n"
    "    x = x.movedim((-4, -2), (-5, -4))  # (..., rows, columns, channels, P, P)\n"
    "    return x.flatten(-3).flatten(-3, -2)"
)


def _images(*leading, channels=3, rows=2, columns=4, size=3, dtype=torch.float32):
    return lambda d: args(
        d.normal(*leading, channels, rows * size, columns * size, dtype=dtype), size
    )


def _refused(own, name, images, patch_size):
    """Say whether sizes that do not fit are refused, and how."""
    try:
        getattr(own, name)(images, patch_size)
    except ValueError:
        return "a ValueError"
    except NotImplementedError:
        raise  # the body is still empty
    except Exception as error:
        return f"a {type(error).__name__}"
    return "no error"


def _whole_numbers(d):
    return args(torch.arange(2 * 2 * 4 * 6).reshape(2, 2, 4, 6), 2)


PATCHIFY = Exercise(
    patchify,
    parts={"values": 9, "any leading axes": 4, "sizes that do not fit": 3, GRADIENT: 2},
    cases=[
        Case("values", "a batch of images, wider than high", _images(2)),
        Case("values", "higher than wide", _images(2, channels=2, rows=5, columns=3, size=2)),
        Case("values", "one channel", _images(3, channels=1, rows=3, columns=2, size=2)),
        Case("values", "as many channels as pixels in a row", _images(2, channels=2, size=2)),
        Case("values", "patches of one pixel", _images(2, channels=3, size=1)),
        Case("values", "a single patch", _images(2, channels=2, rows=1, columns=1, size=4)),
        Case("values", "square images", _images(2, channels=2, rows=3, columns=3, size=2)),
        Case("values", "float64", _images(2, dtype=torch.float64)),
        Case("values", "a transposed tensor", lambda d: args(d.normal(2, 3, 8, 6).mT, 2)),
        Case("values", "a batch of one", _images(1)),
        Case("values", "whole numbers", _whole_numbers),
        Case("any leading axes", "one image", _images()),
        Case("any leading axes", "two axes in front", _images(2, 5, channels=3, size=2)),
        Case("sizes that do not fit", "height", lambda d: (d.normal(2, 3, 7, 6), 3), _refused),
        Case("sizes that do not fit", "width", lambda d: (d.normal(2, 3, 6, 7), 3), _refused),
        Case("sizes that do not fit", "both", lambda d: (d.normal(1, 5, 5), 2), _refused),
        Case(
            "sizes that do not fit",
            "as many pixels as fit",
            lambda d: (d.normal(2, 3, 2, 8), 4),
            _refused,
        ),
    ],
    slips=[
        Slip(
            "patches in column order",
            patchify,
            "(-5, -4))",
            "(-4, -5))",
            "The patches come down the first column, then down the second. Reading order runs "
            "along the rows: the column index must change fastest.",
        ),
        Slip(
            "image transposed",
            patchify,
            CUT,
            "x = images.mT.unflatten(-1, (rows, patch_size)).unflatten(-3, (columns, patch_size))"
            "\n    x = x.movedim((-4, -2), (-5, -4))\n    return x.flatten(-3).flatten(-3, -2)",
            "Height and width are exchanged: patches and pixels both run down the columns. No "
            "shape shows it, not even that of a wide image.",
        ),
        Slip(
            "pixels of a patch in column order",
            patchify,
            "return x.flatten(-3)",
            "return x.mT.flatten(-3)",
            "The patches are in the right order, but each is written down column by column: its "
            "first P numbers should be its top edge.",
        ),
        Slip(
            "channels interleaved",
            patchify,
            "return x.flatten(-3)",
            "return x.movedim(-3, -1).flatten(-3)",
            "The channels of a pixel stand side by side, (P, P, channels). All of channel 0 comes "
            "first, then channel 1: (channels, P, P), as in the weights of `nn.Conv2d`.",
        ),
        Slip(
            "dealt out in reading order",
            patchify,
            CUT,
            "x = images\n    n = rows * columns\n"
            "    return x.reshape(*x.shape[:-3], n, x.size(-3) * patch_size**2)",
            "The shape is right, but the pixels are dealt out in reading order: a row of numbers "
            "holds strips of the image, not a square. Cut height and width first, then move axes.",
        ),
        Slip(
            "pixels from all over the image",
            patchify,
            "images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))\n"
            "    x = x.movedim((-4, -2), (-5, -4))",
            "images.unflatten(-1, (patch_size, columns)).unflatten(-3, (patch_size, rows))\n"
            "    x = x.movedim((-3, -1), (-5, -4))",
            "Each patch takes every so-many-th pixel, so it is a small copy of the whole image. "
            "Cut an axis into (number of patches, P), in this order.",
        ),
        Slip(
            "patches as columns",
            patchify,
            "flatten(-3, -2)",
            "flatten(-3, -2).mT",
            "The result is (..., channels * P * P, N), as `F.unfold` gives it: tokens are rows, so "
            "exchange the last two axes.",
        ),
        Slip(
            "channels as patches of their own",
            patchify,
            CUT,
            "x = images.unflatten(-1, (columns, patch_size)).unflatten(-3, (rows, patch_size))\n"
            "    x = x.transpose(-3, -2)  # (..., channels, rows, columns, P, P)\n"
            "    return x.flatten(-2).flatten(-4, -2)",
            "Each channel makes patches of its own: too many rows, each too short. A patch has all "
            "channels of its square.",
        ),
        Slip(
            "grid not flattened",
            patchify,
            ".flatten(-3, -2)",
            "",
            "The patches still stand in a grid, (..., rows, columns, channels * P * P): make one "
            "axis of rows and columns.",
        ),
        Slip(
            "channels averaged",
            patchify,
            "return x.flatten(-3)",
            "return x.mean(-3).flatten(-2)",
            "The channels are averaged: a patch keeps all of them, one after the other.",
        ),
        Slip(
            "edges cut off silently",
            patchify,
            'raise ValueError(f"a {height} x {width} image cannot be cut into patches of '
            '{patch_size}")',
            "images = images[..., : height // patch_size * patch_size, "
            ": width // patch_size * patch_size]",
            "Sizes that do not fit pass without a word (pixels are dropped, or added): raise a "
            "ValueError.",
        ),
        Slip(
            "bottom row first",
            patchify,
            "return x.flatten(-3)",
            "return x.flip(-5).flatten(-3)",
            "The rows of patches come from the bottom up: row 0 of a tensor is the top.",
        ),
    ],
)


def _weights(d, reference, config, std):
    return {k: d.normal(*v.shape, std=std) for k, v in reference(**config).state_dict().items()}


def _embedded(d, b, rows, columns, size, channels, n_embd):
    height, width = rows * size, columns * size
    config = {"image_size": (height, width), "patch_size": size}
    config |= {"n_channel": channels, "n_embd": n_embd}
    weights = _weights(d, PatchEmbedding, config, 0.6)
    return built(config, weights, d.normal(b, channels, height, width))


def _embedded_twice(own, name, config, weights, args, kwargs):
    """Embed two batches of different sizes, one after the other, with one model."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    return [model(images).detach() for images in (args[0], args[0][:1])]


TOKENS = (
    "first = self.class_token.expand(len(images), 1, -1)\n"
    "        return torch.cat([first, patches], dim=1) + self.position"
)

EMBEDDING = Exercise(
    PatchEmbedding,
    parts={"tokens": 10, GRADIENT: 4, ARGUMENTS: 2},
    cases=[
        Case("tokens", "a batch of images", lambda d: _embedded(d, 2, 3, 4, 2, 3, 7), module),
        Case("tokens", "one grey image", lambda d: _embedded(d, 1, 4, 2, 3, 1, 5), module),
        Case("tokens", "a single patch", lambda d: _embedded(d, 3, 1, 1, 4, 2, 6), module),
        Case(
            "tokens",
            "one batch after another",
            lambda d: _embedded(d, 3, 2, 3, 2, 2, 5),
            _embedded_twice,
        ),
        Case(
            "tokens",
            "as many images as patches and one",
            lambda d: _embedded(d, 5, 2, 2, 2, 1, 5),
            module,
        ),
        Case("tokens", "one column", lambda d: _embedded(d, 2, 2, 3, 2, 1, 1), module),
    ],
    slips=[
        Slip(
            "class token last",
            PatchEmbedding.forward,
            "[first, patches]",
            "[patches, first]",
            "The class token stands behind the patches: it is token 0.",
        ),
        Slip(
            "no position for the class token",
            PatchEmbedding.forward,
            TOKENS,
            "first = self.class_token.expand(len(images), 1, -1)\n"
            "        return torch.cat([first, patches + self.position[1:]], dim=1)",
            "The class token gets no position: row 0 of `position` belongs to it.",
        ),
        Slip(
            "positions one row too early",
            PatchEmbedding.forward,
            TOKENS,
            "first = self.class_token.expand(len(images), 1, -1)\n"
            "        return torch.cat([first, patches + self.position[:-1]], dim=1)",
            "The positions are added before the class token is there, and patch n gets row n: it "
            "is token 1 + n, and row 1 + n is its own.",
        ),
        Slip(
            "the class token's position for the last row",
            PatchEmbedding.forward,
            "dim=1) + self.position",
            "dim=1) + self.position.roll(1, 0)",
            "The positions are one row off: row t belongs to token t.",
        ),
        Slip(
            "no positions",
            PatchEmbedding.forward,
            "dim=1) + self.position",
            "dim=1)",
            "`position` is not added: the model cannot tell one order of the patches from another.",
        ),
        Slip(
            "no class token",
            PatchEmbedding.forward,
            TOKENS,
            "first = None\n        return patches + self.position[1:]",
            "There is no class token: put it in front, as token 0.",
        ),
        Slip(
            "zeros for the class token",
            PatchEmbedding.forward,
            "self.class_token.expand(len(images), 1, -1)",
            "torch.zeros_like(patches[:, :1])",
            "Zeros stand where the class token should: use the learned `class_token`.",
        ),
        Slip(
            "the mean patch for the class token",
            PatchEmbedding.forward,
            "self.class_token.expand(len(images), 1, -1)",
            "patches.mean(1, keepdim=True) + self.class_token",
            "Token 0 already holds the patches' average: the class token is the same for every "
            "image, and only attention brings news to it.",
        ),
        Slip(
            "cut by reshape",
            PatchEmbedding.forward,
            "patchify(images, self.patch_size)",
            "images.reshape(len(images), -1, self.project.in_features)",
            "The image is cut by a reshape, which makes strips of it: use `patchify`.",
        ),
        Slip(
            "pixels normalised",
            PatchEmbedding.forward,
            "self.project(patchify(images, self.patch_size))",
            "self.project(nn.functional.layer_norm(patchify(images, self.patch_size), "
            "[self.project.in_features]))",
            "Each patch is normalised before the projection, which wipes out how bright it is (of "
            "a patch of one pixel nothing is left). Project the pixels as they are.",
        ),
        Slip(
            "activation after the projection",
            PatchEmbedding.forward,
            "patches = self.project(patchify(images, self.patch_size))",
            "patches = torch.relu(self.project(patchify(images, self.patch_size)))",
            "An activation follows the projection: the embedding of a patch is linear.",
        ),
        Slip(
            "positions multiplied",
            PatchEmbedding.forward,
            "dim=1) + self.position",
            "dim=1) * self.position",
            "The positions are multiplied with the tokens: add them.",
        ),
    ],
)

SMALL = {"image_size": (4, 6), "patch_size": 2, "n_channel": 2, "n_class": 5}
SMALL |= {"n_embd": 8, "n_layer": 2, "n_head": 2, "n_hidden": 12}


def _encoded(own, name, config, weights, images):
    """Build the model, load its weights, and look at all its tokens."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    return model.encode(images).detach()


def _vit(d, b=3, **changes):
    config = {**SMALL, **changes}
    size = (config["n_channel"], *config["image_size"])
    return built(config, _weights(d, ViT, config, 0.4), d.normal(b, *size, std=1.0))


def _tokens(d, b=3, **changes):
    config, weights, (images,), _ = _vit(d, b, **changes)
    return config, weights, images


WHOLE = Exercise(
    ViT,
    parts={"all tokens": 6, "scores": 6, GRADIENT: 3, ARGUMENTS: 1},
    cases=[
        Case("all tokens", "two blocks", _tokens, _encoded),
        Case("all tokens", "three blocks", lambda d: _tokens(d, n_layer=3), _encoded),
        Case("all tokens", "no block at all", lambda d: _tokens(d, n_layer=0), _encoded),
        Case("all tokens", "another eps", lambda d: _tokens(d, eps=0.3), _encoded),
        Case("all tokens", "one image", lambda d: _tokens(d, 1, image_size=(6, 2)), _encoded),
        Case("scores", "a batch of images", _vit, module),
        Case("scores", "one image", lambda d: _vit(d, 1, image_size=(6, 2)), module),
        Case("scores", "one patch", lambda d: _vit(d, image_size=(2, 2)), module),
        Case("scores", "as many classes as columns", lambda d: _vit(d, n_class=8), module),
    ],
    slips=[
        Slip(
            "last norm missing",
            ViT.encode,
            "return self.last_norm(x)",
            "return x",
            "`last_norm` is missing: in pre-norm blocks nobody normalises what leaves the last "
            "one (lesson `layer_norm`).",
        ),
        Slip(
            "norm after every block",
            ViT.encode,
            "x = block(x)\n        return self.last_norm(x)",
            "x = self.last_norm(block(x))\n        return x",
            "`last_norm` stands inside the loop: it belongs once after the last block.",
        ),
        Slip(
            "norm before the blocks",
            ViT.encode,
            "x = self.embedding(images)\n        for block in self.blocks:\n"
            "            x = block(x)\n        return self.last_norm(x)",
            "x = self.last_norm(self.embedding(images))\n        for block in self.blocks:\n"
            "            x = block(x)\n        return x",
            "`last_norm` is applied before the blocks: it belongs after them.",
        ),
        Slip(
            "every block reads the embedding",
            ViT.encode,
            "x = block(x)",
            "x = block(self.embedding(images))",
            "Every block starts from the embedding, so only the last one counts: a block reads "
            "what the block before it wrote.",
        ),
        Slip(
            "first block for all",
            ViT.encode,
            "x = block(x)",
            "x = self.blocks[0](x)",
            "The first block is used again and again: go through all blocks in turn.",
        ),
        Slip(
            "blocks in reverse",
            ViT.encode,
            "for block in self.blocks:",
            "for block in reversed(self.blocks):",
            "The blocks run from last to first.",
        ),
        Slip(
            "one block left out",
            ViT.encode,
            "for block in self.blocks:",
            "for block in self.blocks[1:]:",
            "The first block is left out.",
        ),
        Slip(
            "a skip around each block",
            ViT.encode,
            "x = block(x)",
            "x = x + block(x)",
            "The input is added to each block's output, but a block has its skips inside.",
        ),
        Slip(
            "causal mask",
            ViT.encode,
            "x = block(x)",
            "x = block(x, torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril())",
            "A causal mask is left over from a language model: the class token, which comes first, "
            "sees nothing but itself. An image has no future: mask nothing.",
        ),
        Slip(
            "mean of all tokens",
            ViT.forward,
            "self.encode(images)[:, 0]",
            "self.encode(images).mean(1)",
            "The head reads the mean of all tokens, the class token among them: read token 0.",
        ),
        Slip(
            "mean of the patches",
            ViT.forward,
            "self.encode(images)[:, 0]",
            "self.encode(images)[:, 1:].mean(1)",
            "The head reads the mean of the patches. That works too, but here the class token is "
            "asked for: token 0.",
        ),
        Slip(
            "last token read",
            ViT.forward,
            "[:, 0]",
            "[:, -1]",
            "The head reads the last patch: the class token is token 0.",
        ),
        Slip(
            "first patch read",
            ViT.forward,
            "[:, 0]",
            "[:, min(1, len(self.embedding.position) - 1)]",
            "The head reads token 1, the first patch: the class token is token 0.",
        ),
        Slip(
            "every token scored",
            ViT.forward,
            "[:, 0]",
            "",
            "There is a row of scores for every token: only the class token is read.",
        ),
        Slip(
            "first image's class token",
            ViT.forward,
            "self.encode(images)[:, 0]",
            "self.encode(images)[0]",
            "`[0]` takes all tokens of the first image: `[:, 0]` takes token 0 of every image.",
        ),
        Slip(
            "softmax of the scores",
            ViT.forward,
            "self.head(self.encode(images)[:, 0])",
            "self.head(self.encode(images)[:, 0]).softmax(-1)",
            "The result is a softmax: return the scores, cross-entropy takes the softmax itself.",
        ),
    ],
)


def _table(rows, columns, new, c=5, dtype=torch.float32):
    return lambda d: args(d.normal(1 + rows * columns, c, dtype=dtype), (rows, columns), new)


GRID = "grid = position[1:].unflatten(0, old_grid).movedim(-1, 0)  # (C, rows, columns)\n"
RESIZED = (
    GRID + '    new = F.interpolate(grid[None], new_grid, mode="bicubic", align_corners=False)[0]\n'
    "    return torch.cat([position[:1], new.flatten(1).T])"
)

INTERPOLATE = Exercise(
    interpolate_positions,
    parts={"values": 8, GRADIENT: 4, ARGUMENTS: 2},
    cases=[
        Case("values", "more rows and columns", _table(2, 3, (4, 7))),
        Case("values", "fewer rows and columns", _table(6, 5, (3, 2))),
        Case("values", "more rows, fewer columns", _table(3, 4, (5, 2), c=6)),
        Case("values", "a square grid", _table(3, 3, (6, 6), c=4)),
        Case("values", "the same grid", _table(3, 4, (3, 4))),
        Case("values", "as many patches in another grid", _table(2, 6, (3, 4))),
        Case("values", "a ratio that does not come out even", _table(1, 11, (2, 15))),
        Case("values", "one patch becomes many", _table(1, 1, (2, 3))),
        Case("values", "one column", _table(2, 4, (3, 5), c=1)),
        Case("values", "float64", _table(2, 3, (3, 5), dtype=torch.float64)),
        Case(
            "values",
            "a transposed table",
            lambda d: args(d.normal(5, 7).mT, (2, 3), (4, 4)),
        ),
    ],
    slips=[
        Slip(
            "bilinear",
            interpolate_positions,
            'new_grid, mode="bicubic"',
            'new_grid, mode="bilinear"',
            "The mode is bilinear: bicubic is asked for.",
        ),
        Slip(
            "nearest neighbour",
            interpolate_positions,
            'new_grid, mode="bicubic", align_corners=False',
            'new_grid, mode="nearest"',
            "The nearest old position is copied: interpolate with mode='bicubic'.",
        ),
        Slip(
            "corners aligned",
            interpolate_positions,
            "align_corners=False)[0]",
            "align_corners=True)[0]",
            "align_corners=True pins the corner patches' centres to the corners: False is asked "
            "for, the pictures' edges agree.",
        ),
        Slip(
            "smoothed before shrinking",
            interpolate_positions,
            "align_corners=False)",
            "align_corners=False, antialias=True)",
            "antialias is switched on: its other options are to be left alone.",
        ),
        Slip(
            "class token dropped",
            interpolate_positions,
            "torch.cat([position[:1], new.flatten(1).T])",
            "new.flatten(1).T",
            "The class token's row is lost: keep it in front.",
        ),
        Slip(
            "class token last",
            interpolate_positions,
            "[position[:1], new.flatten(1).T]",
            "[new.flatten(1).T, position[:1]]",
            "The class token's row has moved to the end: it stays row 0.",
        ),
        Slip(
            "class token taken from the grid",
            interpolate_positions,
            "[position[:1], new.flatten(1).T]",
            "[position[1:].mean(0, keepdim=True), new.flatten(1).T]",
            "The class token's row is made from the patches' rows: keep the old one.",
        ),
        Slip(
            "last row taken for the class token",
            interpolate_positions,
            "position[1:].unflatten",
            "position[:-1].unflatten",
            "The grid starts with the class token's row and lacks the last patch: the patches are "
            "position[1:].",
        ),
        Slip(
            "along the list, not over the grid",
            interpolate_positions,
            RESIZED,
            "grid = position[1:].T  # (C, N)\n    new = F.interpolate(grid[None], "
            'new_grid[0] * new_grid[1], mode="linear")[0]\n'
            "    return torch.cat([position[:1], new.flatten(1).T])",
            "The rows are stretched like a list: the end of one row of patches runs into the start "
            "of the next. Make a grid of them first.",
        ),
        Slip(
            "rows and columns of the old grid exchanged",
            interpolate_positions,
            "unflatten(0, old_grid)",
            "unflatten(0, old_grid[::-1])",
            "The old grid is read as (columns, rows): a square one hides it.",
        ),
        Slip(
            "rows and columns of the new grid exchanged",
            interpolate_positions,
            "F.interpolate(grid[None], new_grid,",
            "F.interpolate(grid[None], new_grid[::-1],",
            "The new grid is read as (columns, rows): a square one hides it.",
        ),
        Slip(
            "columns cut by a reshape",
            interpolate_positions,
            ".unflatten(0, old_grid).movedim(-1, 0)",
            ".reshape(-1, *old_grid)",
            "The table is reshaped to (C, rows, columns), which mixes patches and columns: make "
            "(rows, columns, C), then move C to the front.",
        ),
        Slip(
            "new grid read down the columns",
            interpolate_positions,
            "new.flatten(1).T",
            "new.mT.flatten(1).T",
            "The new patches come down the columns: they should be in reading order again.",
        ),
        Slip(
            "no gradient",
            interpolate_positions,
            "position[1:].unflatten",
            "position.detach()[1:].unflatten",
            "The values are right, but the patches' rows are detached: they could not be learned.",
        ),
    ],
    equivalent={
        "interpolate_positions: F.interpolate(grid[None], new_grid, mode='bicubic', "
        "align_corners=False) -> F.interpolate(grid[None], new_grid, mode='bicubic')": "False is "
        "the default",
        "interpolate_positions: F.interpolate(grid[None], new_grid, mode='bicubic', "
        "align_corners=False)[0] -> F.interpolate(grid[None], new_grid, mode='bicubic', "
        "align_corners=False)[-1]": "of one picture the first is the last",
    },
)


def _layers(n_layer, *leading, heads=3, t=4, dtype=torch.float32):
    shape = (n_layer, *leading, heads, t, t)
    # no gradient is asked for: an answer that renormalises the rows is right, and has another one
    return lambda d: (
        *args(d.normal(*shape, dtype=torch.float64).softmax(-1).to(dtype)),
        False,
    )


LAYERS = (
    "for layer in (weights.mean(-3) + identity) / 2:\n        rollout = layer @ rollout\n"
    "    return rollout"
)

ROLLOUT = Exercise(
    attention_rollout,
    parts={"values": 8, "any leading axes": 3, ARGUMENTS: 1},
    cases=[
        Case("values", "three layers of a batch", _layers(3, 2)),
        Case("values", "two layers", _layers(2, 3, heads=2, t=5)),
        Case("values", "one layer", _layers(1, 2)),
        Case("values", "a batch of one", _layers(3, 1)),
        Case("values", "one head", _layers(3, 2, heads=1)),
        Case("values", "as many layers, images, heads and tokens", _layers(3, 3, heads=3, t=3)),
        Case("values", "float64", _layers(3, 2, dtype=torch.float64)),
        Case("any leading axes", "no batch", _layers(3)),
        Case("any leading axes", "two axes in front", _layers(2, 3, 2)),
    ],
    slips=[
        Slip(
            "rollout reversed",
            attention_rollout,
            "layer @ rollout",
            "rollout @ layer",
            "The product is in the wrong order: the last layer stands on the left, since it reads "
            "what the layers below it made.",
        ),
        Slip(
            "skip forgotten",
            attention_rollout,
            "(weights.mean(-3) + identity) / 2",
            "weights.mean(-3)",
            "The skips are forgotten: half of what leaves a layer is what came in. Mix with the "
            "identity before multiplying.",
        ),
        Slip(
            "not halved",
            attention_rollout,
            "(weights.mean(-3) + identity) / 2",
            "(weights.mean(-3) + identity)",
            "The identity is added but nothing is halved: rows sum to 2 to the power of the "
            "layers instead of 1.",
        ),
        Slip(
            "heads multiplied out by the strongest",
            attention_rollout,
            "weights.mean(-3)",
            "weights.amax(-3)",
            "The largest weight of any head is taken: average the heads.",
        ),
        Slip(
            "heads added",
            attention_rollout,
            "weights.mean(-3)",
            "weights.sum(-3)",
            "The heads are added up: average them, so that rows sum to one.",
        ),
        Slip(
            "first head only",
            attention_rollout,
            "weights.mean(-3)",
            "weights[..., 0, :, :]",
            "Only the first head counts: average all of them.",
        ),
        Slip(
            "only the last layer",
            attention_rollout,
            "rollout = layer @ rollout",
            "rollout = layer",
            "Only the last layer's map is left: multiply it with the product so far.",
        ),
        Slip(
            "layers averaged",
            attention_rollout,
            LAYERS,
            "mixed = (weights.mean(-3) + identity) / 2\n    rollout = mixed.mean(0)\n"
            "    return rollout",
            "The layers are averaged: what layer 1 looks at has been mixed by layer 0 already, so "
            "the maps must be multiplied.",
        ),
        Slip(
            "first layer left out",
            attention_rollout,
            "in (weights.mean(-3) + identity) / 2:",
            "in ((weights.mean(-3) + identity) / 2)[1:]:",
            "Layer 0 is left out: it reads the patches themselves.",
        ),
        Slip(
            "columns for rows",
            attention_rollout,
            "return rollout",
            "return rollout.mT",
            "The result is transposed: row i says what output token i rests on.",
        ),
        Slip(
            "weights transposed",
            attention_rollout,
            "weights.mean(-3)",
            "weights.mean(-3).mT",
            "The maps are transposed: rows ask, and rows sum to one.",
        ),
        Slip(
            "element by element",
            attention_rollout,
            "layer @ rollout",
            "layer * rollout",
            "The maps are multiplied element by element, which never adds up the ways over other "
            "tokens: use the matrix product.",
        ),
        Slip(
            "the skip mixed in at the end",
            attention_rollout,
            LAYERS,
            "for layer in weights.mean(-3):\n        rollout = layer @ rollout\n"
            "    return (rollout + identity) / 2",
            "The identity is mixed in once, after the product: every layer has its own skip.",
        ),
    ],
    equivalent={
        "attention_rollout: torch.eye(weights.size(-1), dtype=weights.dtype, "
        "device=weights.device) -> torch.eye(weights.size(-1), dtype=weights.dtype)": "checks "
        "run on the CPU, where new tensors are made anyway",
        "attention_rollout: weights.size(-1) -> weights.size(-2)": "the maps are square",
    },
)


def puzzle() -> Puzzle:
    """Number every pixel by the patch it lands in, with one line of `patchify` changed."""
    slip = next(s for s in PATCHIFY.slips if s.name == "pixels from all over the image")
    pixels = torch.arange(24).reshape(1, 4, 6)
    table = torch.empty(24)
    for number, patch in enumerate(patched(slip)["patchify"](pixels, 2)):
        table[patch] = number
    return Puzzle(
        table.reshape(4, 6),
        "the patch that each pixel of a 4 x 6 image lands in",
        "row of pixels",
        "column of pixels",
    )


WHICH_LINE = Choice(
    "which_line",
    7,
    right="c",
    answers={
        "a": "The order of patches would be wrong, but each would still be a square of 2 x 2: the "
        "numbers 0 and 1 would lie below each other, in blocks.",
        "b": "Then the pixels are dealt out as one reads, four to a patch: the first row would "
        "read 0 0 0 0 1 1.",
        "c": "Yes. Cut into (P, columns), the neighbours in memory are the same place in "
        "neighbouring patches, so each patch collects every third pixel of every second row: a "
        "small, coarse copy of the whole image.",
        "d": "This changes the order of the four numbers within a patch, not which pixels it "
        "holds: the picture would show the blocks of a right answer.",
    },
)


def _shuffled(own, seed):
    """Train two tiny models with the learner's code; shuffle the patches of new images."""
    from solutions.studies.shuffled_patches import shuffle_test

    seen = shuffle_test(own.ViT, seed)
    return {name: 100 * shares["changed"] for name, shares in seen.items()}


def _decide(measured: dict) -> str:
    with_, without = measured["with"] > 30, measured["without"] > 30
    return {(True, True): "a", (False, False): "b", (True, False): "c", (False, True): "d"}[
        with_, without
    ]


SHUFFLE = Conclusion(
    "who_notices",
    7,
    probe=_shuffled,
    inputs=(0,),
    decide=_decide,
    answers={
        "a": "With positions {with:.0f}% of {whose} answers change, without {without:.0f}%. "
        "To the model without positions the shuffled image is the same bag of patches.",
        "b": "With positions {with:.0f}% of {whose} answers change, without {without:.0f}%. "
        "Attention by itself does not care for order; the positions that were added do.",
        "c": "With positions {with:.0f}% of the answers change, without {without:.0f}%: a model "
        "without positions sees a bag of patches, in which order does not exist.",
        "d": "With positions {with:.0f}% of {whose} answers change, without {without:.0f}%. "
        "It is the other way round: positions are what tells two orders apart.",
    },
    measures=[ViT],
)

QUESTIONS = [PATCHIFY, EMBEDDING, WHOLE, INTERPOLATE, ROLLOUT, WHICH_LINE, SHUFFLE]
