"""What several questions of encoder_decoder are tried with."""

from functools import cache

import torch

from solutions.data.tiny_french import EOS, PAD, SOS
from solutions.encoder_decoder import Decoder, DecoderBlock, Transformer


@cache
def shapes_of(name, config):
    """Return the shapes of a model's parameters."""
    made = {c.__name__: c for c in (DecoderBlock, Decoder, Transformer)}[name](**dict(config))
    return {name: tuple(value.shape) for name, value in made.state_dict().items()}


def drawn_weights(d, model, config):
    """Draw every parameter of a model, by its shape."""
    return {
        name: d.normal(*shape, std=1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7)
        for name, shape in shapes_of(model.__name__, tuple(config.items())).items()
    }


def drawn_words(d, b, s):
    """Draw a mask (B, 1, S) of words before padding, the first sentence full."""
    lengths = d.integers(1, s + 1, b)
    lengths[0] = s
    return (torch.arange(s) < lengths[:, None]).unsqueeze(1)


def elsewhere(own, name, config, weights, args, kwargs):
    """Say where the result is when all is on `meta`: a device without numbers, there everywhere."""
    model = getattr(own, name)(**config).to("meta")
    try:
        return f"the result is on {model(*(a.to('meta') for a in args)).device.type}"
    except RuntimeError:
        return "tensors of two devices meet"


def drawn_sentences(d, b, n, n_vocab, end=False):
    """Draw ids (B, n) of different lengths, the first of them full; with `end`, EOS comes last."""
    ids = d.integers(EOS + 1 if end else SOS, n_vocab, b, n)
    lengths = d.integers(1, n + 1, b)
    lengths[0] = n
    places = torch.arange(n)
    if end:
        ids = ids.masked_fill(places == lengths[:, None] - 1, EOS)
    return ids.masked_fill(places >= lengths[:, None], PAD)


def transformer_of(d, n_layer=2, **options):
    config = {"n_source": 9, "n_target": 8, "n_embd": 6, "n_head": 2, "n_layer": n_layer}
    config |= {"n_hidden": 7} | options
    return config, drawn_weights(d, Transformer, config)
