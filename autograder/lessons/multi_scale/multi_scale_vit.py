"""MultiScaleViT: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.multi_scale import MultiScaleViT

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
    return config, d.weights(MultiScaleViT(**config), 0.4)


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


MASKED = "mask = self.kept_mask(grid, shift, x.device) mask = mask.repeat(len(x), 1, 1)"


QUESTION = Exercise(
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
            "            mask = self.kept_mask(grid, shift, x.device)\n"
            "            mask = mask.repeat(len(x), 1, 1)  # (B * N, M * M, M * M)\n"
            "        seen = block(windows.flatten(0, 1), mask).unflatten(0, windows.shape[:2])\n"
            "        return window_reverse(seen, grid).roll((shift, shift)",
            "x = x.roll((shift, shift), dims=(1, 2))\n"
            "        windows = window_partition(x, self.window_size)  # (B, N, M * M, C)\n"
            "        mask = None\n"
            "        if shift > 0:\n"
            "            mask = self.kept_mask(grid, shift, x.device)\n"
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
    },
)
