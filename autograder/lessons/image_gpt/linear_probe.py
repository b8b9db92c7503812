"""linear_probe: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from solutions.linear_probe import linear_probe


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


QUESTION = Exercise(
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
