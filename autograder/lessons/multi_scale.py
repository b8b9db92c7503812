"""multi_scale: cutting windows, the mask of the seam, merging patches, the whole model."""

import torch

from autograder.exercise import (
    ARGUMENTS,
    GRADIENT,
    Case,
    Choice,
    Conclusion,
    Draw,
    Exercise,
    args,
    built,
)
from autograder.probe import module
from autograder.puzzle import Puzzle
from autograder.slips import Slip, patched
from solutions.multi_scale import (
    MultiScaleViT,
    PatchMerging,
    shifted_window_mask,
    window_partition,
    window_reverse,
)

CUT = (
    "x = x.unflatten(-2, (columns // size, size)).unflatten(-4, (rows // size, size))\n"
    "    x = x.transpose(-4, -3)  # (..., rows // M, columns // M, M, M, C)\n"
    "    return x.flatten(-3, -2).flatten(-4, -3)"
)


def _grid(*leading, rows=2, columns=3, size=2, c=5, dtype=torch.float32):
    """Draw a grid of so many rows and columns of windows."""
    return lambda d: args(d.normal(*leading, rows * size, columns * size, c, dtype=dtype), size)


def _refused(own, name, x, size):
    """Say whether sizes that do not fit are refused, and how."""
    try:
        getattr(own, name)(x, size)
    except ValueError:
        return "a ValueError"
    except NotImplementedError:
        raise  # the body is still empty
    except Exception as error:
        return f"a {type(error).__name__}"
    return "no error"


PARTITION = Exercise(
    window_partition,
    parts={"values": 8, "any leading axes": 3, "sizes that do not fit": 2, GRADIENT: 2},
    cases=[
        Case("values", "a batch of grids, wider than high", _grid(2)),
        Case("values", "higher than wide", _grid(2, rows=4, columns=2, size=3, c=4)),
        Case("values", "rows, columns and width alike", _grid(2, rows=2, columns=2, c=4)),
        Case("values", "windows of one token", _grid(2, rows=3, columns=2, size=1)),
        Case("values", "one window covers the grid", _grid(3, rows=1, columns=1, size=4)),
        Case("values", "one column of numbers", _grid(2, rows=3, columns=2, c=1)),
        Case("values", "float64", _grid(2, dtype=torch.float64)),
        Case("values", "a permuted grid", lambda d: args(d.normal(2, 5, 4, 6).movedim(1, -1), 2)),
        Case("values", "a batch of one", _grid(1)),
        Case("values", "whole numbers", lambda d: args(torch.arange(144).reshape(2, 4, 6, 3), 2)),
        Case("any leading axes", "one grid", _grid()),
        Case("any leading axes", "two axes in front", _grid(2, 3, rows=3, columns=2)),
        Case("sizes that do not fit", "rows", lambda d: (d.normal(2, 5, 6, 3), 3), _refused),
        Case("sizes that do not fit", "columns", lambda d: (d.normal(2, 6, 4, 3), 3), _refused),
        Case("sizes that do not fit", "both", lambda d: (d.normal(5, 7, 4), 2), _refused),
        Case(
            "sizes that do not fit",
            "as many tokens as fit",
            lambda d: (d.normal(2, 2, 8, 3), 4),
            _refused,
        ),
    ],
    slips=[
        Slip(
            "dealt out in reading order",
            window_partition,
            CUT,
            "lead, c = x.shape[:-3], x.size(-1)\n    n = (rows // size) * (columns // size)\n"
            "    return x.reshape(*lead, n, size * size, c)",
            "The shape is right, but the tokens are dealt out as one reads: a window holds a "
            "strip of the image, not a square. Cut rows and columns first, then exchange axes.",
        ),
        Slip(
            "windows over channels",
            window_partition,
            "x = x.unflatten(-2,",
            "x = x.mT.unflatten(-2,",
            "The last axis is taken for the columns of the grid, so windows are cut across the "
            "channels: C stays whole, rows and columns are the two axes before it.",
        ),
        Slip(
            "tokens from all over the grid",
            window_partition,
            "x = x.unflatten(-2, (columns // size, size)).unflatten(-4, (rows // size, size))\n"
            "    x = x.transpose(-4, -3)  # (..., rows // M, columns // M, M, M, C)",
            "x = x.unflatten(-2, (size, columns // size)).unflatten(-4, (size, rows // size))\n"
            "    x = x.movedim((-4, -2), (-5, -4))",
            "Each window collects every so-many-th token, so it is a coarse copy of the whole "
            "grid. Cut an axis into (number of windows, M), in this order.",
        ),
        Slip(
            "windows in column order",
            window_partition,
            "x = x.transpose(-4, -3)",
            "x = x.transpose(-4, -3).transpose(-5, -4)",
            "The windows come down the first column, then down the second. Reading order runs "
            "along the rows: the column of windows must change fastest.",
        ),
        Slip(
            "tokens of a window in column order",
            window_partition,
            "return x.flatten(-3, -2)",
            "return x.transpose(-3, -2).flatten(-3, -2)",
            "The windows are in the right order, but each is written down column by column: its "
            "first M tokens should be its top edge.",
        ),
        Slip(
            "windows as columns",
            window_partition,
            "flatten(-4, -3)",
            "flatten(-4, -3).transpose(-3, -2)",
            "The tokens of a window stand before the windows, (..., M * M, N, C): exchange them.",
        ),
        Slip(
            "grid of windows not flattened",
            window_partition,
            ".flatten(-4, -3)",
            "",
            "The windows still stand in a grid: make one axis of its rows and columns.",
        ),
        Slip(
            "windows not flattened",
            window_partition,
            "return x.flatten(-3, -2).flatten(-4, -3)",
            "return x.flatten(-5, -4)",
            "A window is still a square, (M, M, C): list its tokens, (M * M, C).",
        ),
        Slip(
            "rows of windows from below",
            window_partition,
            "return x.flatten(-3, -2)",
            "return x.flip(-5).flatten(-3, -2)",
            "The rows of windows come from the bottom up: row 0 of a tensor is the top.",
        ),
        Slip(
            "edges cut off silently",
            window_partition,
            'raise ValueError(f"a grid of {rows} x {columns} cannot be cut into windows of '
            '{size}")',
            "x = x[..., : rows // size * size, : columns // size * size, :]",
            "Sizes that do not fit pass without a word (tokens are dropped, or added): raise a "
            "ValueError.",
        ),
        Slip(
            "no gradient",
            window_partition,
            "x = x.unflatten(-2,",
            "x = x.detach().unflatten(-2,",
            "The values are right, but no gradient flows back: is there a detach() or .data?",
        ),
    ],
)


def _windows(*leading, rows=2, columns=3, size=2, c=5, dtype=torch.float32):
    def draw(d):
        x = d.normal(*leading, rows * columns, size * size, c, dtype=dtype)
        return args(x, (rows * size, columns * size))

    return draw


BACK = "windows.unflatten(-2, (size, size)).unflatten(-4, (rows // size, columns // size))"

REVERSE = Exercise(
    window_reverse,
    parts={"values": 6, "any leading axes": 2, GRADIENT: 2},
    cases=[
        Case("values", "a batch of grids, wider than high", _windows(2)),
        Case("values", "higher than wide", _windows(2, rows=4, columns=2, size=3, c=4)),
        Case("values", "everything alike", _windows(4, rows=2, columns=2, c=4)),
        Case("values", "windows of one token", _windows(2, rows=3, columns=2, size=1)),
        Case("values", "one window covers the grid", _windows(3, rows=1, columns=1, size=4)),
        Case("values", "a batch of one", _windows(1)),
        Case("values", "float64", _windows(2, dtype=torch.float64)),
        Case(
            "values",
            "a permuted tensor",
            lambda d: args(d.normal(2, 5, 6, 4).movedim(1, -1), (4, 6)),
        ),
        Case("any leading axes", "one grid", _windows(c=10)),
        Case("any leading axes", "two axes in front", _windows(2, 3, rows=3, columns=2)),
    ],
    slips=[
        Slip(
            "put back in reading order",
            window_reverse,
            BACK + "\n    x = x.transpose(-4, -3)  # (..., rows // M, M, columns // M, M, C)\n"
            "    return x.flatten(-3, -2).flatten(-4, -3)",
            "windows.flatten(-3, -2)\n    _ = size\n    return x.unflatten(-2, (rows, columns))",
            "The shape is right, but the tokens are laid out as one reads, window after window: "
            "a square becomes a strip. Bring the axes back in order before you join them.",
        ),
        Slip(
            "windows expected in column order",
            window_reverse,
            "(rows // size, columns // size))",
            "(columns // size, rows // size)).transpose(-5, -4)",
            "The windows are laid out down the columns: they come in reading order.",
        ),
        Slip(
            "rows and columns exchanged",
            window_reverse,
            "rows, columns = grid",
            "columns, rows = grid",
            "The grid is read as (columns, rows): a square one hides it.",
        ),
        Slip(
            "tokens expected in column order",
            window_reverse,
            "x = x.transpose(-4, -3)",
            "x = x.transpose(-3, -2).transpose(-4, -3)",
            "The tokens of a window are laid out down its columns: they come in reading order.",
        ),
        Slip(
            "tokens spread over the grid",
            window_reverse,
            "return x.flatten(-3, -2).flatten(-4, -3)",
            "return x.transpose(-3, -2).flatten(-3, -2).transpose(-4, -3).flatten(-4, -3)",
            "The axes are joined as (M, number of windows): a window's tokens end up all over the "
            "grid. The place within a window changes fastest.",
        ),
        Slip(
            "axes not joined",
            window_reverse,
            ".flatten(-4, -3)",
            "",
            "The rows are not joined yet: (..., rows // M, M, columns, C) has one axis too many.",
        ),
        Slip(
            "windows from below",
            window_reverse,
            "x = x.transpose(-4, -3)",
            "x = x.flip(-5).transpose(-4, -3)",
            "The first window lands at the bottom: it belongs at the top left.",
        ),
        Slip(
            "no gradient",
            window_reverse,
            "x = windows.unflatten",
            "x = windows.detach().unflatten",
            "The values are right, but no gradient flows back: is there a detach() or .data?",
        ),
    ],
)


def _seam(rows, columns, size, shift):
    return lambda d: args((rows, columns), size, shift)


REGION = "2 * low[:, None] + right"

MASK = Exercise(
    shifted_window_mask,
    parts={"mask": 10, "one window": 3, "no shift": 3},
    cases=[
        Case("mask", "two by three windows", _seam(8, 12, 4, 2)),
        Case("mask", "three by two windows, a shift of one", _seam(9, 6, 3, 1)),
        Case("mask", "a shift of all but one", _seam(9, 6, 3, 2)),
        Case("mask", "square windows of two", _seam(4, 4, 2, 1)),
        Case("mask", "one row of windows", _seam(3, 9, 3, 1)),
        Case("one window", "that covers a rolled grid", _seam(3, 3, 3, 1)),
        Case("one window", "of 4 x 4", _seam(4, 4, 4, 3)),
        Case("no shift", "everything is allowed", _seam(4, 6, 2, 0)),
        Case("no shift", "windows of one token", _seam(2, 3, 1, 0)),
    ],
    slips=[
        Slip(
            "no seam at all",
            shifted_window_mask,
            "return region == region.mT",
            "return (region == region.mT) | True",
            "Everything is allowed, so the mask leaks across the seam: tokens from opposite edges "
            "of the image look at each other.",
        ),
        Slip(
            "seam between rows only",
            shifted_window_mask,
            REGION,
            "2 * low[:, None] + 0 * right",
            "Only the rows are kept apart: the last `shift` columns came over the edge as well.",
        ),
        Slip(
            "seam between columns only",
            shifted_window_mask,
            REGION,
            "0 * low[:, None] + right",
            "Only the columns are kept apart: the last `shift` rows came over the edge as well.",
        ),
        Slip(
            "two regions of one name",
            shifted_window_mask,
            REGION,
            "1 * low[:, None] + right",
            "Bottom left and top right bear the same label, so they look at each other although "
            "they come from different corners: four regions need four labels.",
        ),
        Slip(
            "only the corner is strange",
            shifted_window_mask,
            REGION,
            "1 * (low[:, None] & right)",
            "Only the corner that came over both edges is kept apart: rows that came over one edge "
            "are strangers too.",
        ),
        Slip(
            "all strangers are friends",
            shifted_window_mask,
            REGION,
            "1 * (low[:, None] | right)",
            "All that came over an edge is one region, but what came over the top edge and what "
            "came over the left edge are strangers to each other.",
        ),
        Slip(
            "seam on the wrong side",
            shifted_window_mask,
            "low = torch.arange(rows) >= rows - shift\n"
            "    right = torch.arange(columns) >= columns - shift",
            "low = torch.arange(rows) < shift\n    right = torch.arange(columns) < shift",
            "The first `shift` rows and columns are kept apart: that is the seam of a roll down "
            "and to the right. A roll up and to the left puts the strangers last.",
        ),
        Slip(
            "seam one step too far",
            shifted_window_mask,
            "low = torch.arange(rows) >= rows - shift\n"
            "    right = torch.arange(columns) >= columns - shift",
            "low = torch.arange(rows) > rows - shift\n"
            "    right = torch.arange(columns) > columns - shift",
            "The seam is off by one: `shift` rows came over the edge, this keeps one fewer apart.",
        ),
        Slip(
            "mask inverted",
            shifted_window_mask,
            "region == region.mT",
            "region != region.mT",
            "The mask is the wrong way round: True means that looking is allowed.",
        ),
        Slip(
            "numbers to be added",
            shifted_window_mask,
            "return region == region.mT",
            "return torch.where(region == region.mT, 0.0, -100.0)",
            "These are numbers to be added to scores, 0 and -100, as some libraries have them. "
            "Here a mask is boolean: True where looking is allowed.",
        ),
        Slip(
            "labels dealt out in reading order",
            shifted_window_mask,
            "window_partition(region[..., None], size)",
            "region.reshape(-1, size * size, 1)",
            "The labels are cut by a reshape, so they belong to strips: cut them as the tokens "
            "are cut, with `window_partition`.",
        ),
        Slip(
            "one mask for all windows",
            shifted_window_mask,
            "return region == region.mT",
            "return (region == region.mT)[-1:].expand(len(region), -1, -1)",
            "Every window gets the mask of the last one, but most windows have no seam in them.",
        ),
        Slip(
            "a token may not see itself",
            shifted_window_mask,
            "return region == region.mT",
            "return (region == region.mT) & ~torch.eye(size * size, dtype=torch.bool)",
            "The diagonal is forbidden: a token may look at itself.",
        ),
    ],
    equivalent={
        "shifted_window_mask: 2 * low[:, None] -> 3 * low[:, None]": "any four labels do",
        "shifted_window_mask: 2 * low[:, None] -> -2 * low[:, None]": "any four labels do",
    },
)


def _weights(d, reference, config, std):
    return {k: d.normal(*v.shape, std=std) for k, v in reference(**config).state_dict().items()}


def _merging(*leading, rows=2, columns=3, c=5, **options):
    def draw(d):
        config = {"n_embd": c} | options
        weights = _weights(d, PatchMerging, config, 0.6)
        return built(config, weights, d.normal(*leading, 2 * rows, 2 * columns, c))

    return draw


CORNERS = "[x[..., row::2, column::2, :] for row in (0, 1) for column in (0, 1)]"
JOINED = "self.reduce(self.norm(torch.cat(corners, dim=-1)))"

MERGING = Exercise(
    PatchMerging,
    parts={"values": 9, "any leading axes": 2, GRADIENT: 2, ARGUMENTS: 1},
    cases=[
        Case("values", "a batch of grids", _merging(2), module),
        Case("values", "higher than wide", _merging(3, rows=4, columns=2, c=3), module),
        Case("values", "a square grid", _merging(2, rows=2, columns=2, c=4), module),
        Case("values", "four tokens", _merging(3, rows=1, columns=1), module),
        Case("values", "one column of numbers", _merging(2, c=1), module),
        Case("values", "a batch of one", _merging(1), module),
        Case("values", "another eps", _merging(2, eps=0.3), module),
        Case("any leading axes", "one grid", _merging(), module),
        Case("any leading axes", "two axes in front", _merging(2, 3, rows=1, columns=2), module),
    ],
    slips=[
        Slip(
            "down before across",
            PatchMerging.forward,
            "for row in (0, 1) for column in (0, 1)]",
            "for column in (0, 1) for row in (0, 1)]",
            "The corners come down the first column, then down the second (as in the published "
            "weights of Swin). Here they come in reading order: top right is the second.",
        ),
        Slip(
            "corners in reverse",
            PatchMerging.forward,
            "for row in (0, 1) for column in (0, 1)]",
            "for row in (1, 0) for column in (1, 0)]",
            "The corners come in reverse: the top left token is the first.",
        ),
        Slip(
            "bottom before top",
            PatchMerging.forward,
            "for row in (0, 1) for column",
            "for row in (1, 0) for column",
            "The lower tokens come before the upper ones: row 0 of a tensor is the top.",
        ),
        Slip(
            "four tokens in a row",
            PatchMerging.forward,
            "torch.cat(corners, dim=-1)",
            "x.reshape(*corners[0].shape[:-1], 4 * x.size(-1))",
            "A reshape joins tokens that follow each other in reading order: four in a row, not "
            "the four of a square.",
        ),
        Slip(
            "quarters of the image",
            PatchMerging.forward,
            CORNERS,
            "[h for half in x.chunk(2, -3) for h in half.chunk(2, -2)]",
            "Tokens at the same place of the four quarters of the image are joined: take "
            "neighbours, every second row and column.",
        ),
        Slip(
            "columns of the four tokens alternate",
            PatchMerging.forward,
            "torch.cat(corners, dim=-1)",
            "torch.stack(corners, dim=-1).flatten(-2)",
            "The numbers of the four tokens alternate: set whole tokens side by side, the first C "
            "columns are the top left one.",
        ),
        Slip(
            "top left only",
            PatchMerging.forward,
            "[x[..., row::2, column::2, :]",
            "[x[..., 0::2, 0::2, :]",
            "The top left token is taken four times and three tokens are thrown away.",
        ),
        Slip(
            "averaged",
            PatchMerging.forward,
            "torch.cat(corners, dim=-1)",
            "torch.cat(4 * [sum(corners) / 4], dim=-1)",
            "The four tokens are averaged, so what set them apart is lost: put them side by side "
            "and let `reduce` learn what to keep.",
        ),
        Slip(
            "no norm",
            PatchMerging.forward,
            "self.norm(torch.cat(corners, dim=-1))",
            "torch.cat(corners, dim=-1)",
            "`norm` is not used: normalise the 4 C numbers before they are reduced.",
        ),
        Slip(
            "not reduced",
            PatchMerging.forward,
            JOINED,
            "self.norm(torch.cat(corners, dim=-1))",
            "The tokens have 4 C columns: `reduce` brings them to 2 C.",
        ),
        Slip(
            "each token normalised by itself",
            PatchMerging.forward,
            "self.norm(torch.cat(corners, dim=-1))",
            "self.norm.gain * torch.cat([nn.functional.layer_norm(t, t.shape[-1:]) "
            "for t in corners], dim=-1) + self.norm.bias",
            "Each of the four tokens is normalised by itself, and how large they are beside each "
            "other is lost: normalise the 4 C numbers together.",
        ),
        Slip(
            "rows and columns exchanged",
            PatchMerging.forward,
            JOINED,
            "self.reduce(self.norm(torch.cat(corners, dim=-1))).transpose(-3, -2)",
            "The merged grid is transposed: its rows come first.",
        ),
        Slip(
            "activation added",
            PatchMerging.forward,
            JOINED,
            "torch.relu(self.reduce(self.norm(torch.cat(corners, dim=-1))))",
            "An activation follows: merging is a norm and a linear map, no more.",
        ),
    ],
)

SMALL = {"image_size": (4, 8), "patch_size": 1, "n_channel": 2, "n_class": 5}
SMALL |= {"n_embd": 4, "n_head": 2, "depths": (2, 1), "window_size": 2}


def _looked(own, name, config, weights, x, shift):
    """Build the model, load its weights, and send a grid through its first block."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    given = x.clone()
    result = model.look(model.stages[0][0], given, shift).detach()
    return {"result": result, "inputs": [given]}


def _looked_twice(own, name, config, weights, x, shift):
    """Send two batches of different sizes through one model, one after the other."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    block = model.stages[0][0]
    return [model.look(block, grid.clone(), shift).detach() for grid in (x, x[:1])]


def _staged(own, name, config, weights, images):
    """Run the whole model with a plain stand-in for `look`; note how `look` was called."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    names = {id(b): [s, i] for s, blocks in enumerate(model.stages) for i, b in enumerate(blocks)}
    calls = []

    def look(block, x, shift):
        calls.append([*names[id(block)], list(x.shape), int(shift)])
        return 0.8 * x + 0.1 * len(calls) + 0.3 * int(shift) * x.roll(1, -1)

    model.look = look
    grid = model.encode(images).detach()
    seen = [*calls]
    return {"calls": seen, "grid": grid, "result": model(images).detach()}


def _model(d, **changes):
    config = {**SMALL, **changes}
    return config, _weights(d, MultiScaleViT, config, 0.4)


def _look(rows, columns, shift, b=3, **changes):
    def draw(d):
        config, weights = _model(d, image_size=(rows, columns), depths=(1,), **changes)
        return config, weights, d.normal(b, rows, columns, config["n_embd"]), shift

    return draw


def _stages(b=2, **changes):
    def draw(d):
        config, weights = _model(d, **changes)
        return config, weights, d.normal(b, config["n_channel"], *config["image_size"], std=1.0)

    return draw


def _whole(b=2, **changes):
    def draw(d):
        config, weights, images = _stages(b, **changes)(d)
        return built(config, weights, images)

    return draw


THREE = _stages(image_size=(12, 12), depths=(2, 1, 2), window_size=3)
FOUR = _stages(image_size=(8, 8), depths=(1, 1, 1, 1), window_size=1, n_embd=2, n_head=1)
ODD_FIRST = _stages(image_size=(8, 8), depths=(1, 2))
TWO_PIXELS = _stages(image_size=(16, 8), patch_size=2, depths=(2, 2))
PATCHES = "self.project(patchify(images, self.patch_size)).unflatten(1, (rows, columns))"
LAST = "return self.last_norm(x)"
MASKED = (
    "mask = shifted_window_mask(grid, self.window_size, shift).to(x.device) "
    "mask = mask.repeat(len(x), 1, 1)"
)

WHOLE = Exercise(
    MultiScaleViT,
    parts={"one block": 9, "stages": 6, "whole model": 3, GRADIENT: 2, ARGUMENTS: 1},
    cases=[
        Case("one block", "shifted windows", _look(4, 6, 1), _looked),
        Case("one block", "a long shift, one image", _look(3, 6, 2, b=1, window_size=3), _looked),
        Case("one block", "windows that stay", _look(6, 4, 0), _looked),
        Case("one block", "as many images as windows", _look(4, 4, 1, b=4), _looked),
        Case("one block", "one window, shifted", _look(2, 2, 1), _looked),
        Case("one block", "one batch after another", _look(4, 6, 1), _looked_twice),
        Case("stages", "three, the last of one window", THREE, _staged),
        Case("stages", "four, windows of one token", FOUR, _staged),
        Case("stages", "an odd first stage", ODD_FIRST, _staged),
        Case("stages", "patches of two pixels", TWO_PIXELS, _staged),
        Case("stages", "another shift", _stages(1, window_size=4, shift=1, depths=(4,)), _staged),
        Case("whole model", "a batch of images", _whole(), module),
        Case(
            "whole model",
            "two stages that shift",
            _whole(image_size=(8, 8), depths=(2, 2)),
            module,
        ),
    ],
    slips=[
        Slip(
            "mask not used",
            MultiScaleViT.look,
            "block(windows.flatten(0, 1), mask)",
            "block(windows.flatten(0, 1))",
            "The mask is not passed on, so the windows at the edge leak across the seam: tokens "
            "from opposite sides of the image look at each other.",
        ),
        Slip(
            "mask inverted",
            MultiScaleViT.look,
            "block(windows.flatten(0, 1), mask)",
            "block(windows.flatten(0, 1), None if mask is None else ~mask)",
            "The mask is the wrong way round: `shifted_window_mask` is True where looking is "
            "allowed, and the block expects just that.",
        ),
        Slip(
            "no roll back",
            MultiScaleViT.look,
            "window_reverse(seen, grid).roll((shift, shift), dims=(1, 2))",
            "window_reverse(seen, grid)",
            "The grid is not rolled back: every token has moved up and to the left, and the next "
            "block takes it for another place.",
        ),
        Slip(
            "rolled on instead of back",
            MultiScaleViT.look,
            "window_reverse(seen, grid).roll((shift, shift)",
            "window_reverse(seen, grid).roll((-shift, -shift)",
            "The grid is rolled by -shift twice: the way back has the other sign.",
        ),
        Slip(
            "rolled down and to the right",
            MultiScaleViT.look,
            "x = x.roll((-shift, -shift), dims=(1, 2))\n"
            "        windows = window_partition(x, self.window_size)  # (B, N, M * M, C)\n"
            "        mask = None\n"
            "        if shift > 0:\n"
            "            mask = shifted_window_mask(grid, self.window_size, shift).to(x.device)\n"
            "            mask = mask.repeat(len(x), 1, 1)  # (B * N, M * M, M * M)\n"
            "        seen = block(windows.flatten(0, 1), mask).unflatten(0, windows.shape[:2])\n"
            "        return window_reverse(seen, grid).roll((shift, shift)",
            "x = x.roll((shift, shift), dims=(1, 2))\n"
            "        windows = window_partition(x, self.window_size)  # (B, N, M * M, C)\n"
            "        mask = None\n"
            "        if shift > 0:\n"
            "            mask = shifted_window_mask(grid, self.window_size, shift).to(x.device)\n"
            "            mask = mask.repeat(len(x), 1, 1)  # (B * N, M * M, M * M)\n"
            "        seen = block(windows.flatten(0, 1), mask).unflatten(0, windows.shape[:2])\n"
            "        return window_reverse(seen, grid).roll((-shift, -shift)",
            "The grid is rolled down and to the right, but the mask is made for a roll up and to "
            "the left: it guards the wrong side, and the seam is open.",
        ),
        Slip(
            "windows never move",
            MultiScaleViT.look,
            "x = x.roll((-shift, -shift), dims=(1, 2))\n"
            "        windows = window_partition(x, self.window_size)  # (B, N, M * M, C)\n"
            "        mask = None\n"
            "        if shift > 0:",
            "shift = 0\n"
            "        windows = window_partition(x, self.window_size)  # (B, N, M * M, C)\n"
            "        mask = None\n"
            "        if shift > 0:",
            "The grid is cut without being rolled: the windows do not move.",
        ),
        Slip(
            "only the rows rolled",
            MultiScaleViT.look,
            "x.roll((-shift, -shift), dims=(1, 2))",
            "x.roll((-shift, 0), dims=(1, 2))",
            "The columns are not rolled on the way in: both axes of the grid move.",
        ),
        Slip(
            "batch rolled",
            MultiScaleViT.look,
            "x.roll((-shift, -shift), dims=(1, 2))",
            "x.roll((-shift, -shift), dims=(0, 1))",
            "The roll takes axes 0 and 1, so images change places: the grid is axes 1 and 2.",
        ),
        Slip(
            "mask window after window",
            MultiScaleViT.look,
            "mask.repeat(len(x), 1, 1)",
            "mask.repeat_interleave(len(x), 0)",
            "The masks are repeated window by window, but the windows come image after image: "
            "repeat the whole list of masks, once for each image.",
        ),
        Slip(
            "put back by reshape",
            MultiScaleViT.look,
            "window_reverse(seen, grid).roll",
            "seen.reshape(x.shape).roll",
            "The windows are put back by a reshape, which makes strips of them: use "
            "`window_reverse`.",
        ),
        Slip(
            "the whole grid in one window",
            MultiScaleViT.look,
            "block(windows.flatten(0, 1), mask).unflatten(0, windows.shape[:2])",
            "block(windows.flatten(1, 2), None).unflatten(1, windows.shape[1:3])",
            "All tokens of an image look at each other: every window is a sequence of its own, "
            "(B * N, M * M, C).",
        ),
        Slip(
            "even blocks shift",
            MultiScaleViT.encode,
            "i % 2 == 1 and not covered",
            "i % 2 == 0 and not covered",
            "The first block of a stage shifts and the second does not: even blocks stay, odd "
            "blocks shift.",
        ),
        Slip(
            "blocks counted across the stages",
            MultiScaleViT.encode,
            "i % 2 == 1 and not covered",
            "(i + sum(map(len, self.stages[:stage]))) % 2 == 1 and not covered",
            "The blocks are counted on from stage to stage: after a stage of odd depth the wrong "
            "ones shift. Count anew in every stage.",
        ),
        Slip(
            "every block shifts",
            MultiScaleViT.encode,
            "i % 2 == 1 and not covered",
            "not covered",
            "Every block uses shifted windows: then these never meet the others. Odd blocks only.",
        ),
        Slip(
            "a covered grid shifts",
            MultiScaleViT.encode,
            "i % 2 == 1 and not covered",
            "i % 2 == 1",
            "A grid that is one window is shifted too: the mask would cut it apart for nothing. "
            "Use shift 0 there.",
        ),
        Slip(
            "half a window whatever was asked",
            MultiScaleViT.encode,
            "self.shift if moved else 0",
            "self.window_size // 2 if moved else 0",
            "The shift is half a window here: use self.shift, which may be another.",
        ),
        Slip(
            "last norm missing",
            MultiScaleViT.encode,
            LAST,
            "return x",
            "`last_norm` is missing: in pre-norm blocks nobody normalises what leaves the last "
            "one (lesson `layer_norm`).",
        ),
        Slip(
            "no positions",
            MultiScaleViT.encode,
            "x = x + self.position",
            "x = x * 1",
            "`position` is not added: within a window the model cannot tell places apart.",
        ),
        Slip(
            "patches laid out down the columns",
            MultiScaleViT.encode,
            PATCHES,
            PATCHES.replace("(rows, columns)", "(columns, rows)") + ".transpose(1, 2)",
            "The patches are laid out down the columns: `patchify` lists them as one reads.",
        ),
        Slip(
            "sum of the tokens",
            MultiScaleViT.forward,
            "self.encode(images).mean((1, 2))",
            "self.encode(images).sum((1, 2))",
            "The tokens are added up: the head reads their mean.",
        ),
        Slip(
            "first token read",
            MultiScaleViT.forward,
            "self.encode(images).mean((1, 2))",
            "self.encode(images)[:, 0, 0]",
            "The head reads the top left token. There is no class token here: take the mean.",
        ),
        Slip(
            "strongest instead of mean",
            MultiScaleViT.forward,
            "self.encode(images).mean((1, 2))",
            "self.encode(images).amax((1, 2))",
            "The head reads the largest number of each column: it should read the mean.",
        ),
        Slip(
            "mean of the scores of each row",
            MultiScaleViT.forward,
            "mean((1, 2))",
            "mean(1)",
            "Only the rows are averaged: there is a row of scores for each column of the grid.",
        ),
        Slip(
            "softmax of the scores",
            MultiScaleViT.forward,
            "self.head(self.encode(images).mean((1, 2)))",
            "self.head(self.encode(images).mean((1, 2))).softmax(-1)",
            "The result is a softmax: return the scores, cross-entropy takes the softmax itself.",
        ),
    ],
    equivalent={
        **{
            f"MultiScaleViT.{mutant}": "a grid has four axes, and -2 is the one numbered 2"
            for mutant in (
                "encode: x.size(2) -> x.size(-2)",
                "forward: self.encode(images).mean((1, 2)) -> self.encode(images).mean((1, -2))",
                "look: windows.shape[:2] -> windows.shape[:-2]",
                "look: x.roll((-shift, -shift), dims=(1, 2)) -> "
                "x.roll((-shift, -shift), dims=(1, -2))",
                "look: window_reverse(seen, grid).roll((shift, shift), dims=(1, 2)) -> "
                "window_reverse(seen, grid).roll((shift, shift), dims=(1, -2))",
            )
        },
        **{
            f"MultiScaleViT.look: {mutant}": "without a shift the mask allows everything"
            for mutant in (
                "shift > 0 -> shift > -1",
                "shift > 0 -> shift >= 0",
                f"if shift > 0: {MASKED} -> if True: {MASKED}",
            )
        },
        "MultiScaleViT.look: shifted_window_mask(grid, self.window_size, shift).to(x.device) -> "
        "shifted_window_mask(grid, self.window_size, shift)": "checks run on the CPU, where the "
        "mask is made",
    },
)


def puzzle() -> Puzzle:
    """Count, for every token, the tokens that act on it, where the roll went the wrong way."""
    slip = next(s for s in WHOLE.slips if s.name == "rolled down and to the right")
    config = {"image_size": (8, 8), "n_embd": 4, "n_head": 1, "depths": (1,), "window_size": 4}
    model = patched(slip)["MultiScaleViT"](**config)
    draw = Draw("puzzle")
    model.load_state_dict(
        {k: draw.normal(*v.shape, std=0.3) for k, v in model.state_dict().items()}
    )
    x = draw.normal(1, 8, 8, 4).requires_grad_()
    seen = model.look(model.stages[0][0], x, 2)
    table = torch.empty(8, 8)
    for row in range(8):
        for column in range(8):
            push = torch.autograd.grad(seen[0, row, column, 0], x, retain_graph=True)[0]
            table[row, column] = (push[0].abs().sum(-1) > 0).sum()
    title = "how many input tokens act on each output token (windows of 4 x 4, shift 2)"
    return Puzzle(table, title, "row", "column")


WHICH_LINE = Choice(
    "which_line",
    points=6,
    right="c",
    answers={
        "a": "Without a mask every token would see a whole window, wherever its tokens come from: "
        "16 in every cell.",
        "b": "Without the roll back the small numbers would stand together at the bottom and on "
        "the right, where the rolled grid has its seam; the top left would be all 16.",
        "c": "Yes. Rolled down and to the right, the strangers stand in the first two rows and "
        "columns, but the mask guards the last two. So the tokens at the border see 16, partly on "
        "the opposite edge, and those in the middle, which have no stranger beside them, are cut "
        "apart. A right picture is the other way round: 4 in the corners, 16 in the middle.",
        "d": "Windows that stay need no mask: 16 in every cell.",
    },
)


def _reach(own, seed):
    """Count the pixels that one token sees, with the learner's model."""
    from solutions.studies.window_reach import compare_reach

    stay, shift, merge = compare_reach(own.MultiScaleViT, seed).values()
    return {"first": stay[0], "stay": stay[-1], "shift": shift[-1], "merge": merge[-1]}


def _decide(measured: dict) -> str:
    grown = measured["stay"] > 1.5 * measured["first"], measured["shift"] > 1.5 * measured["first"]
    return {(True, True): "a", (False, True): "b", (False, False): "c", (True, False): "d"}[grown]


REACH = Conclusion(
    "how_far",
    points=8,
    probe=_reach,
    inputs=(0,),
    decide=_decide,
    answers={
        letter: "With {whose} model a token sees {first} pixels after one block. After four blocks "
        "it sees {stay} where the windows stay and {shift} where every second block shifts; three "
        "stages with merging, which stay, bring {merge} of 256."
        for letter in "abcd"
    },
    measures=[MultiScaleViT],
)

QUESTIONS = [PARTITION, REVERSE, MASK, MERGING, WHOLE, WHICH_LINE, REACH]
