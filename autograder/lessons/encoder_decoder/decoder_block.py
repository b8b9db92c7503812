"""DecoderBlock: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.encoder_decoder.shared import drawn_weights, drawn_words
from autograder.seam.probe import module
from solutions.encoder_decoder import DecoderBlock


def _block(
    norm, b=None, t=None, s=None, causal=False, holes=False, padded=False, blind=False, **options
):
    """Draw a block, its tokens (B, T, C) and a memory (B, S, C), with masks or without."""

    def draw(d):
        sizes = d.sizes(3, 2, 5)
        n_b, n_t, n_s = (given or size for given, size in zip((b, t, s), sizes, strict=True))
        config = {"n_embd": 6, "n_head": 2, "norm": norm, "n_hidden": 7} | options
        masks = {}
        if causal:
            masks["mask"] = torch.ones(n_t, n_t, dtype=torch.bool).tril()
        if holes:
            masks["mask"] = d.mask(n_t, n_t)
        if padded:
            masks["memory_mask"] = drawn_words(d, n_b, n_s)
            if blind:
                masks["memory_mask"][-1] = False
        inputs = (d.normal(n_b, n_t, 6), d.normal(n_b, n_s, 6))
        return built(config, drawn_weights(d, DecoderBlock, config), *inputs, **masks)

    return draw


def _dropped(own, name, config, weights, x, memory):
    """Train with a dropout of 1: all branches fall silent, and what is left is the skips."""
    block = getattr(own, name)(**config)
    block.load_state_dict(weights)
    block.train()
    return block(x, memory).detach()


def _silent(norm):
    def draw(d):
        config, weights, positional, _ = _block(norm, dropout=1.0)(d)
        return config, weights, *positional

    return draw


PRE = (
    "x = x + self.dropout(self.attention(self.attention_norm(x), mask=mask))\n"
    "            x = x + self.dropout(self.cross(self.cross_norm(x), memory, memory_mask))\n"
    "            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))"
)


POST = (
    "x = self.attention_norm(x + self.dropout(self.attention(x, mask=mask)))\n"
    "        x = self.cross_norm(x + self.dropout(self.cross(x, memory, memory_mask)))\n"
    "        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))"
)


BOTH = f"{PRE}\n        {POST}"


PRE_1, PRE_2, PRE_3 = PRE.split("\n            ")


POST_1, POST_2, POST_3 = POST.split("\n        ")


def _lines(*lines, indent=12):
    return ("\n" + " " * indent).join(lines)


QUESTION = Exercise(
    DecoderBlock,
    parts={"pre-norm": 5, "post-norm": 5, "masks": 5, GRADIENT: 2, "dropout": 2, ARGUMENTS: 1},
    cases=[
        Case("pre-norm", "a batch of sentences", _block("pre"), module),
        Case("pre-norm", "one token, one word", _block("pre", t=1, s=1), module),
        Case("post-norm", "a batch of sentences", _block("post"), module),
        Case("masks", "a causal mask", _block("pre", t=4, causal=True), module),
        Case("masks", "a mask with holes", _block("pre", t=5, holes=True), module),
        Case(
            "masks",
            "both masks",
            _block("pre", b=3, t=4, s=4, causal=True, padded=True),
            module,
        ),
        Case(
            "masks",
            "both masks, post-norm",
            _block("post", b=3, t=4, s=4, causal=True, padded=True),
            module,
        ),
        Case(
            "masks",
            "a source of padding only",
            _block("pre", b=3, s=4, padded=True, blind=True),
            module,
        ),
        Case("dropout", "pre-norm, all branches dropped", _silent("pre"), _dropped),
        Case("dropout", "post-norm, all branches dropped", _silent("post"), _dropped),
        Case("dropout", "pre-norm, at rest", _block("pre", dropout=1.0), module),
        Case("dropout", "post-norm, at rest", _block("post", dropout=1.0), module),
    ],
    slips=[
        Slip(
            "cross-attention to itself",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace(", memory, memory_mask", ", mask=mask"),
            "Keys and values of the cross-attention come from the decoder itself: it never looks "
            "at the source. The memory is its context.",
        ),
        Slip(
            "memory asks",
            DecoderBlock.forward,
            PRE,
            PRE.replace(
                "self.cross(self.cross_norm(x), memory, memory_mask)",
                "self.cross(memory, self.cross_norm(x))",
            ),
            "In pre-norm the memory asks and the decoder answers. It is the other way round: x has "
            "the queries, the memory keys and values.",
        ),
        Slip(
            "memory normalised again",
            DecoderBlock.forward,
            PRE,
            PRE.replace("memory, memory_mask", "self.cross_norm(memory), memory_mask"),
            "In pre-norm the memory is normalised by `cross_norm` too. It comes from the encoder "
            "normalised already: take it as it is.",
        ),
        Slip(
            "no cross-attention",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace(PRE_2, "x = x").replace(POST_2, "x = x"),
            "The cross-attention is left out: this is the block of an encoder, and the source is "
            "never read.",
        ),
        Slip(
            "one attention for both",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("self.cross(", "self.attention("),
            "`self.attention` serves as cross-attention too; `self.cross` has weights of its own.",
        ),
        Slip(
            "source first",
            DecoderBlock.forward,
            PRE,
            _lines(PRE_2, PRE_1, PRE_3),
            "In pre-norm the source is looked at before the own words: self-attention comes first, "
            "so that the question can depend on what is written.",
        ),
        Slip(
            "branches side by side",
            DecoderBlock.forward,
            PRE,
            _lines(
                PRE_1.replace("x = x +", "y = x +"),
                PRE_2.replace("x = x +", "y = y +"),
                PRE_3.replace("return x +", "return y +"),
            ),
            "In pre-norm all branches read the same x: each should read what the one before it has "
            "changed.",
        ),
        Slip(
            "no skip around the cross-attention",
            DecoderBlock.forward,
            PRE,
            PRE.replace("x = x + self.dropout(self.cross(", "x = self.dropout(self.cross("),
            "In pre-norm the cross-attention replaces x: what was written so far is lost. Add it.",
        ),
        Slip(
            "x changed in place",
            DecoderBlock.forward,
            PRE,
            _lines(
                PRE_1.replace("x = x +", "x +="),
                PRE_2.replace("x = x +", "x +="),
                PRE_3.replace("return x +", "x +=") + "; return x",
            ),
            "In pre-norm `x += ...` writes into the tensor that was handed in, and the caller's x "
            "is lost: `x = x + ...` makes a new one.",
        ),
        Slip(
            "pre and post exchanged",
            DecoderBlock.forward,
            'self.norm == "pre"',
            'self.norm == "post"',
            'The two orders are exchanged: "pre" normalises what a branch reads, "post" the sum.',
        ),
        Slip(
            "causal mask not used",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace(", mask=mask", ""),
            "`mask` is not passed to the self-attention: every word sees the words after it.",
        ),
        Slip(
            "padding visible",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("memory, memory_mask", "memory"),
            "`memory_mask` is not passed to the cross-attention: the decoder looks at padding.",
        ),
        Slip(
            "masks exchanged",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("memory, memory_mask", "memory, mask").replace(
                "mask=mask", "mask=memory_mask"
            ),
            "The two masks are exchanged: `mask` is for the words already written, `memory_mask` "
            "for the source. Where both sentences are equally long no error says so.",
        ),
        Slip(
            "masks inverted",
            DecoderBlock.forward,
            '"""\n        if self.norm == "pre":',
            '"""; mask, memory_mask = (None if m is None else ~m for m in (mask, memory_mask))\n'
            '        if self.norm == "pre":',
            "The masks are turned round: True means that looking is allowed.",
        ),
        Slip(
            "dropout missing",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("self.dropout(", "("),
            "`self.dropout` is not used: it belongs on the result of each branch, before the sum.",
        ),
        Slip(
            "dropout on the skip",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("x + self.dropout(", "self.dropout(x + "),
            "The sum is dropped out, and so is x on the skip: `self.dropout` belongs on the result "
            "of each branch, before the sum.",
        ),
        Slip(
            "dropout never rests",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("self.dropout(", "nn.Dropout(self.dropout.p)("),
            "The dropout is still at work in evaluation, where the same sentence should come out "
            "the same every time: use `self.dropout`, which rests then.",
        ),
        Slip(
            "always a causal mask",
            DecoderBlock.forward,
            '"""\n        if self.norm == "pre":',
            '"""; mask = None if mask is None else causal_mask(x.size(1))\n'
            '        if self.norm == "pre":',
            "Where a mask is given, the block makes a causal one of its own: use the `mask` it is "
            "given.",
        ),
        Slip(
            "no gradient to the encoder",
            DecoderBlock.forward,
            BOTH,
            BOTH.replace("memory, memory_mask", "memory.detach(), memory_mask"),
            "The values are right, but the memory is detached: the encoder would never learn.",
        ),
    ],
)
