"""attention_rollout: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.vit import attention_rollout


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


QUESTION = Exercise(
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
