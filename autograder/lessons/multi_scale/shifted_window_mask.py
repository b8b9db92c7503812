"""shifted_window_mask: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import args
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.multi_scale import shifted_window_mask


def _seam(rows, columns, size, shift):
    return lambda d: args((rows, columns), size, shift)


REGION = "2 * low[:, None] + right"


QUESTION = Exercise(
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
