"""PatchMerging: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.seam.probe import module
from solutions.multi_scale import PatchMerging


def _merging(*leading, rows=2, columns=3, c=5, **options):
    def draw(d):
        config = {"n_embd": c} | options
        weights = d.weights(PatchMerging(**config), 0.6)
        return built(config, weights, d.normal(*leading, 2 * rows, 2 * columns, c))

    return draw


CORNERS = "[x[..., row::2, column::2, :] for row in (0, 1) for column in (0, 1)]"


JOINED = "self.reduce(self.norm(torch.cat(corners, dim=-1)))"


QUESTION = Exercise(
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
