"""encoder_decoder: the decoder's block, its stack, the whole Transformer, its loss, writing."""

from functools import cache

import torch

from autograder.exercise import (
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
from solutions.data.tiny_french import EOS, PAD, SOS
from solutions.encoder_decoder import (
    Decoder,
    DecoderBlock,
    Transformer,
    greedy_decode,
    smoothed_loss,
)


@cache
def _shapes(name, config):
    """Return the shapes of a model's parameters."""
    made = {c.__name__: c for c in (DecoderBlock, Decoder, Transformer)}[name](**dict(config))
    return {name: tuple(value.shape) for name, value in made.state_dict().items()}


def _weights(d, model, config):
    """Draw every parameter of a model, by its shape."""
    return {
        name: d.normal(*shape, std=1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7)
        for name, shape in _shapes(model.__name__, tuple(config.items())).items()
    }


def _words(d, b, s):
    """Draw a mask (B, 1, S) of words before padding, the first sentence full."""
    lengths = d.integers(1, s + 1, b)
    lengths[0] = s
    return (torch.arange(s) < lengths[:, None]).unsqueeze(1)


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
            masks["memory_mask"] = _words(d, n_b, n_s)
            if blind:
                masks["memory_mask"][-1] = False
        inputs = (d.normal(n_b, n_t, 6), d.normal(n_b, n_s, 6))
        return built(config, _weights(d, DecoderBlock, config), *inputs, **masks)

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


BLOCK = Exercise(
    DecoderBlock,
    parts={"pre-norm": 6, "post-norm": 5, "masks": 5, GRADIENT: 2, "dropout": 2},
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


def _decoder(b=None, t=None, s=None, n_layer=2, norm="pre", causal=True, padded=True):
    """Draw a decoder, ids (B, T) and a memory (B, S, C) with its mask."""

    def draw(d):
        sizes = d.sizes(3, 2, 5)
        n_b, n_t, n_s = (given or size for given, size in zip((b, t, s), sizes, strict=True))
        sizes = {"n_vocab": 8, "n_embd": 6, "n_head": 2, "n_layer": n_layer}
        config = sizes | {"norm": norm, "n_hidden": 7, "causal": causal}
        masks = {"memory_mask": _words(d, n_b, n_s)} if padded else {}
        inputs = (d.integers(0, 8, n_b, n_t), d.normal(n_b, n_s, 6))
        return built(config, _weights(d, Decoder, config), *inputs, **masks)

    return draw


def _after_a_short_one(own, name, config, weights, args, kwargs):
    """Read the first token of every sentence, then the whole sentences with the same decoder."""
    decoder = getattr(own, name)(**config)
    decoder.load_state_dict(weights)
    decoder.eval()
    tokens, memory = args
    return [decoder(part, memory, **kwargs).detach() for part in (tokens[:, :1], tokens)]


def _elsewhere(own, name, config, weights, args, kwargs):
    """Say where the result is when all is on `meta`: a device without numbers, there everywhere."""
    model = getattr(own, name)(**config).to("meta")
    try:
        return f"the result is on {model(*(a.to('meta') for a in args)).device.type}"
    except RuntimeError:
        return "tensors of two devices meet"


LOOP = "for block in self.blocks:\n            x = block(x, memory, mask, memory_mask)"
MASK = "causal_mask(tokens.size(1)).to(tokens.device) if self.causal else None"

DECODER = Exercise(
    Decoder,
    parts={"the stack": 5, "the mask": 6, "padding": 2, GRADIENT: 1},
    cases=[
        Case("the stack", "two blocks", _decoder(t=1, padded=False), module),
        Case("the stack", "post-norm", _decoder(norm="post", n_layer=1, t=1, padded=False), module),
        Case("the mask", "a batch of sentences", _decoder(t=4, padded=False), module),
        Case(
            "the mask",
            "the mask left out",
            _decoder(t=4, n_layer=1, causal=False, padded=False),
            module,
        ),
        Case(
            "the mask",
            "a sentence after a short one",
            _decoder(t=4, n_layer=1, padded=False),
            _after_a_short_one,
        ),
        Case("the mask", "on another device", _decoder(n_layer=1, padded=False), _elsewhere),
        Case("padding", "sources of different lengths", _decoder(b=3, s=5), module),
        Case("padding", "as many tokens as words", _decoder(b=3, t=4, s=4, n_layer=1), module),
    ],
    slips=[
        Slip(
            "no causal mask",
            Decoder.forward,
            MASK,
            "None",
            "The mask is missing: every word sees the words after it. In training it would copy "
            "the answer, and then be unable to write.",
        ),
        Slip(
            "always causal",
            Decoder.forward,
            " if self.causal else None",
            "",
            "`self.causal` is not asked: with causal=False every token should see all tokens.",
        ),
        Slip(
            "mask strictly below the diagonal",
            Decoder.forward,
            "causal_mask(tokens.size(1))",
            "causal_mask(tokens.size(1)).tril(-1)",
            "A token does not see itself: the mask should include the diagonal.",
        ),
        Slip(
            "one word of the future",
            Decoder.forward,
            "causal_mask(tokens.size(1))",
            "torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril(1)",
            "Every token sees one word too far: exactly the word it should predict.",
        ),
        Slip(
            "mask turned round",
            Decoder.forward,
            "causal_mask(tokens.size(1))",
            "causal_mask(tokens.size(1)).mT",
            "The mask is transposed: every token sees itself and what comes after it.",
        ),
        Slip(
            "padding visible",
            Decoder.forward,
            "block(x, memory, mask, memory_mask)",
            "block(x, memory, mask)",
            "`memory_mask` is not passed on: the decoder looks at the source's padding.",
        ),
        Slip(
            "masks exchanged",
            Decoder.forward,
            "block(x, memory, mask, memory_mask)",
            "block(x, memory, memory_mask, mask)",
            "The two masks are exchanged: first the one for the own words, then the source's.",
        ),
        Slip(
            "mask kept from the first sentence",
            Decoder.forward,
            "mask = " + MASK,
            f'mask = vars(self).setdefault("kept", {MASK})',
            "The mask of the first sentence is kept and used for all later ones, whatever their "
            "length: make it in every call.",
        ),
        Slip(
            "mask left on the CPU",
            Decoder.forward,
            ".to(tokens.device)",
            "",
            "The mask is made on the CPU whatever the device of the tokens: on a GPU this raises "
            "an error. Bring it there with .to(tokens.device).",
        ),
        Slip(
            "padding hidden from the first block only",
            Decoder.forward,
            "x = block(x, memory, mask, memory_mask)",
            "x, memory_mask = block(x, memory, mask, memory_mask), None",
            "Only the first block gets `memory_mask`: all blocks look at the source, so all of "
            "them need it.",
        ),
        Slip(
            "memory replaced",
            Decoder.forward,
            "x = block(x, memory, mask, memory_mask)",
            "x = block(x, memory, mask, memory_mask); memory = memory + x.mean(1, keepdim=True)",
            "The memory changes from block to block; all blocks look at the same one.",
        ),
        Slip(
            "only the first block sees the source",
            Decoder.forward,
            LOOP,
            LOOP.replace(
                "memory, mask, memory_mask",
                "memory if block is self.blocks[0] else x, "
                "mask, memory_mask if block is self.blocks[0] else mask",
            ),
            "Only the first block looks at the memory, the others look at their own words: all "
            "blocks get the encoder's last output.",
        ),
        Slip(
            "last norm missing",
            Decoder.forward,
            "return self.last_norm(x)",
            "return x",
            "`last_norm` is not used. In pre-norm nobody else normalises what leaves the stack.",
        ),
        Slip(
            "norm after every block",
            Decoder.forward,
            f"{LOOP}\n        return self.last_norm(x)",
            LOOP.replace(
                "x = block(x, memory, mask, memory_mask)",
                "x = self.last_norm(block(x, memory, mask, memory_mask))",
            )
            + "\n        return x",
            "`last_norm` runs after every block; it belongs after the last one only.",
        ),
        Slip(
            "places missing",
            Decoder.forward,
            "x = self.embedding(tokens)",
            "x = self.embedding.table(tokens)",
            "The rows of the table are used as they are, without their places and their scale: "
            "call `self.embedding`.",
        ),
        Slip(
            "blocks in reverse",
            Decoder.forward,
            "in self.blocks",
            "in reversed(self.blocks)",
            "The blocks run in reverse order.",
        ),
        Slip(
            "no gradient to the encoder",
            Decoder.forward,
            "block(x, memory, mask, memory_mask)",
            "block(x, memory.detach(), mask, memory_mask)",
            "The values are right, but the memory is detached: the encoder would never learn.",
        ),
    ],
    equivalent={
        "Decoder.forward: tokens.size(1) -> tokens.size(-1)": "ids have two axes: 1 is the last",
    },
)


def _sentences(d, b, n, n_vocab, end=False):
    """Draw ids (B, n) of different lengths, the first of them full; with `end`, EOS comes last."""
    ids = d.integers(EOS + 1 if end else SOS, n_vocab, b, n)
    lengths = d.integers(1, n + 1, b)
    lengths[0] = n
    places = torch.arange(n)
    if end:
        ids = ids.masked_fill(places == lengths[:, None] - 1, EOS)
    return ids.masked_fill(places >= lengths[:, None], PAD)


def _transformer(d, n_layer=2, **options):
    config = {"n_source": 9, "n_target": 8, "n_embd": 6, "n_head": 2, "n_layer": n_layer}
    config |= {"n_hidden": 7} | options
    return config, _weights(d, Transformer, config)


def _teaching(b=None, s=None, t=None, **options):
    """Draw a Transformer, sources and targets with padding."""

    def draw(d):
        sizes = d.sizes(3, 3, 6)
        n_b, n_s, n_t = (given or size for given, size in zip((b, s, t), sizes, strict=True))
        config, weights = _transformer(d, **options)
        return built(config, weights, _sentences(d, n_b, n_s, 9), _sentences(d, n_b, n_t, 8, True))

    return draw


def _encode(own, name, config, weights, source):
    """Read a source: memory and mask."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    return {"result": model.eval().encode(source), "inputs": [source]}


def _decode(own, name, config, weights, tokens, memory, mask):
    """Score the next words, for a memory that is handed over."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    scored = model.eval().decode(tokens, memory, mask)
    return {"result": scored.detach(), "inputs": [tokens, memory, mask]}


def _two_batches(own, name, config, weights, args, kwargs):
    """Score two batches of sentences, one after the other, with one model."""
    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    later = [ids.flip(0) for ids in args]
    return [model(*given).detach() for given in (args, later)]


def _reading(b, s):
    return lambda d: (*_transformer(d, 1), _sentences(d, b, s, 9))


def _writing(b, t, s):
    def draw(d):
        tokens, memory = d.integers(0, 8, b, t), d.normal(b, s, 6)
        return *_transformer(d, 1), tokens, memory, _words(d, b, s)

    return draw


SCORE = "return self.decode(shift_right(target), *self.encode(source))"
LAYER_BY_LAYER = (
    "m, c = padding_mask(source, PAD), causal_mask(target.size(1)); "
    "s, t = self.encoder.embedding(source), self.decoder.embedding(shift_right(target)); "
    "[(s := e(s, m), t := d(t, self.encoder.last_norm(s), c, m)) "
    "for e, d in zip(self.encoder.blocks, self.decoder.blocks)]; "
    "return self.out(self.decoder.last_norm(t))"
)

TRANSFORMER = Exercise(
    Transformer,
    parts={"encode": 5, "decode": 3, "forward": 6, GRADIENT: 2},
    cases=[
        Case("encode", "sources of different lengths", _reading(4, 5), _encode),
        Case("decode", "what is written so far", _writing(3, 4, 5), _decode),
        Case("forward", "padded sentences", _teaching(n_layer=1), module),
        Case(
            "forward", "one sentence, a target of one word", _teaching(b=1, t=1, n_layer=1), module
        ),
        Case("forward", "as many of all", _teaching(b=4, s=4, t=4, n_layer=1), module),
        Case("forward", "two layers, post-norm", _teaching(norm="post"), module),
        Case("forward", "one batch after another", _teaching(b=3, n_layer=1), _two_batches),
        Case("forward", "on another device", _teaching(n_layer=1), _elsewhere),
    ],
    slips=[
        Slip(
            "encoder sees padding",
            Transformer.encode,
            "self.encoder(source, mask), mask",
            "self.encoder(source), mask",
            "The encoder gets no mask: its words mix with padding, and the same sentence reads "
            "differently in another batch.",
        ),
        Slip(
            "decoder sees padding",
            Transformer.encode,
            "self.encoder(source, mask), mask",
            "self.encoder(source, mask), mask | True",
            "The mask that is handed to the decoder allows everything: it will look at padding.",
        ),
        Slip(
            "mask inverted",
            Transformer.encode,
            "padding_mask(source, PAD)",
            "~padding_mask(source, PAD)",
            "The mask is the wrong way round: True at words, False at padding.",
        ),
        Slip(
            "a word taken for padding",
            Transformer.encode,
            "padding_mask(source, PAD)",
            "padding_mask(source, EOS + 1)",
            "The mask hides a real word instead of padding: compare the ids with PAD.",
        ),
        Slip(
            "EOS taken for padding",
            Transformer.encode,
            "padding_mask(source, PAD)",
            "padding_mask(source, EOS)",
            "The ids are compared with EOS, so padding stays visible to encoder and decoder: "
            "compare them with PAD.",
        ),
        Slip(
            "only words with a meaning seen",
            Transformer.encode,
            "padding_mask(source, PAD)",
            "(source > EOS).unsqueeze(1)",
            "SOS and EOS are hidden as well, but they may be read like words: hide PAD alone.",
        ),
        Slip(
            "memory kept from the first source",
            Transformer.forward,
            "*self.encode(source)",
            '*vars(self).setdefault("kept", self.encode(source))',
            "What was read from the first source is kept and used for all later ones: call "
            "`encode` in every forward pass. (Once per source, not once for ever.)",
        ),
        Slip(
            "mask without an axis for the queries",
            Transformer.encode,
            "self.encoder(source, mask), mask",
            "self.encoder(source, mask), mask.squeeze(1)",
            "The mask has shape (B, S). It needs an axis for the queries, (B, 1, S): otherwise it "
            "is taken for a mask (T, S).",
        ),
        Slip(
            "encoder detached",
            Transformer.encode,
            "self.encoder(source, mask), mask",
            "self.encoder(source, mask).detach(), mask",
            "The values are right, but the memory is detached: the encoder would never learn.",
        ),
        Slip(
            "no output layer",
            Transformer.decode,
            "self.out(self.decoder(tokens, memory, memory_mask))",
            "self.decoder(tokens, memory, memory_mask)",
            "The decoder's vectors are returned as they are: `self.out` makes logits of them.",
        ),
        Slip(
            "probabilities",
            Transformer.decode,
            "self.out(self.decoder(tokens, memory, memory_mask))",
            "self.out(self.decoder(tokens, memory, memory_mask)).softmax(-1)",
            "These are probabilities. Return the logits; the loss takes the softmax.",
        ),
        Slip(
            "padding visible to the decoder",
            Transformer.decode,
            "self.decoder(tokens, memory, memory_mask)",
            "self.decoder(tokens, memory)",
            "`memory_mask` is not passed on: the decoder looks at the source's padding.",
        ),
        Slip(
            "shifted twice",
            Transformer.decode,
            "self.decoder(tokens, memory, memory_mask)",
            "self.decoder(shift_right(tokens), memory, memory_mask)",
            "`decode` shifts its tokens; it takes them as they are. Only `forward` shifts, once.",
        ),
        Slip(
            "target not shifted",
            Transformer.forward,
            "shift_right(target)",
            "target",
            "The decoder reads the very word it should predict: the loss falls to nothing and the "
            "translations are garbage. Shift the target to the right.",
        ),
        Slip(
            "last word first",
            Transformer.forward,
            "shift_right(target)",
            "target.roll(1, 1)",
            "`roll` brings the last word of the target to the front: the first one read is SOS.",
        ),
        Slip(
            "EOS not learned",
            Transformer.forward,
            "shift_right(target)",
            "shift_right(target)[:, :-1] if target.size(1) > 1 else shift_right(target)",
            "The last place is cut off: there is no score for EOS, so nobody learns to stop.",
        ),
        Slip(
            "PAD for SOS",
            Transformer.forward,
            "shift_right(target)",
            "shift_right(target, PAD)",
            "The decoder starts from PAD; it starts from SOS.",
        ),
        Slip(
            "decoder layer reads encoder layer",
            Transformer.forward,
            SCORE,
            LAYER_BY_LAYER,
            "Layer l of the decoder looks at layer l of the encoder. All of them look at the last "
            "one: it has understood most.",
        ),
    ],
    equivalent={
        "Transformer.encode: padding_mask(source, PAD) -> padding_mask(PAD, source)": "it only "
        "asks where the two differ",
    },
)


def _loss(*leading, v=None, smoothing=None, padded=True, padding=None):
    """Draw logits (*leading, V) and targets, some of them padding, but not all."""

    def draw(d):
        n_vocab = v or d.sizes(1, 4, 8)[0]
        filler = PAD if padding is None else padding
        target = d.integers(0, n_vocab, *leading)
        target = target.masked_fill(target == filler, n_vocab - 1 if filler == 0 else 0)
        if padded:
            fill = torch.rand(leading, generator=d.generator) < 0.35
            fill.view(-1)[0], fill.view(-1)[-1] = False, True
            target = target.masked_fill(fill, filler)
        options = {} if smoothing is None else {"smoothing": smoothing}
        options |= {} if padding is None else {"padding": padding}
        return args(d.normal(*leading, n_vocab, std=2.0), target, **options)

    return draw


def _large(d):
    logits = d.normal(3, 5, std=200.0)
    logits[1, 2] = 5000.0
    return args(logits, torch.tensor([1, 2, 4]), smoothing=0.2)


EACH = "-(1 - smoothing) * right - smoothing * log_p.mean(-1)"
AVERAGE = "each.masked_fill(~counts, 0.0).sum() / counts.sum()"

LOSS = Exercise(
    smoothed_loss,
    parts={"values": 5, "padding": 5, "large logits": 2, GRADIENT: 2},
    cases=[
        Case("values", "a batch of sentences", _loss(3, 4, padded=False)),
        Case("values", "more smoothing", _loss(2, 5, padded=False, smoothing=0.4)),
        Case("values", "no smoothing", _loss(2, 5, padded=False, smoothing=0.0)),
        Case("values", "a single word", _loss(1, padded=False, smoothing=0.3)),
        Case("values", "three axes in front", _loss(2, 3, 2, padded=False)),
        Case("padding", "padded sentences", _loss(3, 5)),
        Case("padding", "padded sentences, no smoothing", _loss(4, 3, smoothing=0.0)),
        Case("padding", "another id for padding", _loss(3, 4, v=6, padding=3)),
        Case("padding", "one axis", _loss(6, smoothing=0.2)),
        Case("large logits", "logits of some thousand", _large),
    ],
    slips=[
        Slip(
            "padding counts",
            smoothed_loss,
            AVERAGE,
            "each.mean()",
            "Padding counts like words: the model would learn to write padding. Leave those "
            "places out.",
        ),
        Slip(
            "divided by all places",
            smoothed_loss,
            AVERAGE,
            "each.masked_fill(~counts, 0.0).mean()",
            "The losses of the words are summed, but divided by the number of all places: batches "
            "with more padding would weigh less.",
        ),
        Slip(
            "not averaged",
            smoothed_loss,
            AVERAGE,
            "each.masked_fill(~counts, 0.0).sum()",
            "The losses are summed, not averaged: a longer batch would take longer steps.",
        ),
        Slip(
            "sentence by sentence",
            smoothed_loss,
            AVERAGE,
            "(each.masked_fill(~counts, 0.0).sum(-1) / counts.sum(-1).clamp_min(1)).mean()",
            "Each row is averaged by itself, then the rows: words of short sentences weigh more. "
            "All words count alike.",
        ),
        Slip(
            "padding fixed",
            smoothed_loss,
            "target != padding",
            "target != PAD",
            "`padding` is an argument, but PAD is written into the code.",
        ),
        Slip(
            "spread over the others",
            smoothed_loss,
            EACH,
            "-(1 - smoothing) * right - smoothing * (log_p.sum(-1) - right) / (log_p.size(-1) - 1)",
            "The smoothing is shared out among the V - 1 wrong words; here all V columns get "
            "smoothing / V, the right one too.",
        ),
        Slip(
            "nothing taken from the right word",
            smoothed_loss,
            EACH,
            "-right - smoothing * log_p.mean(-1)",
            "The label sums to more than one: what is shared out must be taken from the right "
            "word, which keeps 1 - smoothing.",
        ),
        Slip(
            "not shared out",
            smoothed_loss,
            "log_p.mean(-1)",
            "log_p.sum(-1)",
            "Every column gets `smoothing`; it is shared out: smoothing / V each.",
        ),
        Slip(
            "not smoothed",
            smoothed_loss,
            EACH,
            "-right",
            "This is the plain cross-entropy: `smoothing` is not used.",
        ),
        Slip(
            "shares exchanged",
            smoothed_loss,
            EACH,
            "-smoothing * right - (1 - smoothing) * log_p.mean(-1)",
            "The shares are exchanged: the right word keeps 1 - smoothing.",
        ),
        Slip(
            "no mass on padding",
            smoothed_loss,
            "log_p.mean(-1)",
            "(log_p.sum(-1) - log_p[..., padding]) / (log_p.size(-1) - 1)",
            "The column of padding gets no share. Other books do that; here all V columns get the "
            "same, as PyTorch has it.",
        ),
        Slip(
            "sign",
            smoothed_loss,
            EACH,
            "(1 - smoothing) * right + smoothing * log_p.mean(-1)",
            "The sign is wrong: a loss is small where the right word is likely.",
        ),
        Slip(
            "softmax missing",
            smoothed_loss,
            "logits.log_softmax(-1)",
            "logits",
            "The logits are taken for logarithms of probabilities: a log-softmax is missing.",
        ),
        Slip(
            "softmax, then log",
            smoothed_loss,
            "logits.log_softmax(-1)",
            "logits.softmax(-1).log()",
            "log(softmax) underflows: a probability of 0 has the logarithm minus infinity. "
            "`log_softmax` does both at once.",
        ),
        Slip(
            "softmax twice",
            smoothed_loss,
            "logits.log_softmax(-1)",
            "logits.softmax(-1).log_softmax(-1)",
            "The softmax is taken twice: the probabilities are far too even.",
        ),
        Slip(
            "right words detached",
            smoothed_loss,
            EACH,
            "-(1 - smoothing) * right.detach() - smoothing * log_p.mean(-1)",
            "The value is right, but no gradient comes from the right words.",
        ),
    ],
)


def _greedy(own, name, table, source, n_max):
    """Let a model write whose next word depends on all words so far and on the unmasked source."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.anchor = torch.nn.Parameter(torch.zeros(1))  # to tell the device, if asked
            self.encoded, self.longest = 0, 0

        def encode(self, source):
            self.encoded += 1
            return source * 3, (source != 0).unsqueeze(1)

        def decode(self, tokens, memory, mask):
            self.longest = max(self.longest, tokens.size(1))
            hidden = torch.ones_like(memory, dtype=torch.bool) if mask is None else mask.squeeze(1)
            read = (memory + 1).masked_fill(~hidden, 0).sum(1, keepdim=True)
            place = torch.arange(1, tokens.size(1) + 1)
            return table[(torch.cumsum((tokens + 1) * place, 1) + read) % len(table)]

        def forward(self, source, tokens):
            return self.decode(tokens, *self.encode(source))

    model = Model().eval()
    with torch.no_grad():
        written = getattr(own, name)(model, source, n_max)
    counts = {"times encoded": model.encoded, "longest text shown to decode": model.longest}
    return {"result": written, "inputs": [source]} | counts


@cache  # the same case is drawn again for every slip
def _found(seed, b, s, n_max, ended):
    """Search for a table with which sentences end at different places, all of them or not all."""
    own = type("Own", (), {"greedy_decode": staticmethod(greedy_decode)})
    for attempt in range(400):
        d = Draw(seed, attempt)
        table, source = d.normal(29, 7), _sentences(d, b, s, 9)
        table[:, EOS] += 0.8 if ended else -0.3
        written = _greedy(own, "greedy_decode", table, source, n_max)["result"]
        stops = (written == EOS).any(1)
        ends = (written == EOS).int().argmax(1)[stops].tolist()
        different = b == 1 or len(set(ends)) > 1
        if ended and stops.all() and different and 1 < max(ends) < n_max - 1:
            break
        if not ended and stops.any() and not stops.all() and min(ends) < n_max - 2:
            break
    return table, source, n_max


def _writes(b, s, n_max, ended):
    return lambda d: _found(int(d.integers(0, 2**40, 1)), b, s, n_max, ended)


GREEDY = Exercise(
    greedy_decode,
    parts={"words": 6, "the end of a sentence": 4, "the end of a batch": 4},
    cases=[
        Case("words", "one word", lambda d: (d.normal(29, 7), _sentences(d, 3, 4, 9), 1), _greedy),
        Case(
            "words",
            "one sentence, cut at n_max",
            (
                lambda d: (
                    d.normal(29, 7) - 50 * (torch.arange(7) == EOS),
                    _sentences(d, 1, 5, 9),
                    5,
                )
            ),
            _greedy,
        ),
        Case(
            "words",
            "a batch, cut at n_max",
            lambda d: (d.normal(29, 7) - 50 * (torch.arange(7) == EOS), _sentences(d, 4, 5, 9), 6),
            _greedy,
        ),
        Case(
            "the end of a sentence",
            "some have ended, some are cut",
            _writes(5, 4, 7, False),
            _greedy,
        ),
        Case("the end of a batch", "all end early", _writes(4, 5, 12, True), _greedy),
        Case("the end of a batch", "one sentence ends early", _writes(1, 4, 9, True), _greedy),
    ],
    slips=[
        Slip(
            "never stops early",
            greedy_decode,
            "if done.all():",
            "if False:",
            "All sentences have ended and the model still writes, padding after padding: stop when "
            "the last one has its EOS.",
        ),
        Slip(
            "stops with the first",
            greedy_decode,
            "done.all()",
            "done.any()",
            "Writing stops when one sentence has ended; the others are cut. Wait for the last.",
        ),
        Slip(
            "goes on after EOS",
            greedy_decode,
            ".masked_fill(done, PAD)",
            "",
            "Sentences go on after their EOS; what follows must be PAD.",
        ),
        Slip(
            "EOS left out",
            greedy_decode,
            "word = logits.argmax(-1).masked_fill(done, PAD)\n"
            "        tokens = torch.cat([tokens, word.unsqueeze(1)], 1)\n"
            "        done = done | (word == EOS)",
            "done = done | (logits.argmax(-1) == EOS)\n"
            "        word = logits.argmax(-1).masked_fill(done, PAD)\n"
            "        tokens = torch.cat([tokens, word.unsqueeze(1)], 1)",
            "PAD stands where EOS should: EOS belongs to the sentence, PAD comes after it.",
        ),
        Slip(
            "EOS never noticed",
            greedy_decode,
            "word == EOS",
            "word == PAD",
            "A sentence ends with EOS; PAD is what fills it up afterwards.",
        ),
        Slip(
            "SOS returned",
            greedy_decode,
            "return tokens[:, 1:]",
            "return tokens",
            "The result still starts with SOS, which nobody wrote: leave the first column out.",
        ),
        Slip(
            "starts from PAD",
            greedy_decode,
            "torch.full_like(source[:, :1], SOS)",
            "torch.full_like(source[:, :1], PAD)",
            "Writing starts from PAD; it starts from SOS, as in training.",
        ),
        Slip(
            "starts from the source",
            greedy_decode,
            "torch.full_like(source[:, :1], SOS)",
            "source[:, :1]",
            "Writing starts from the first word of the source; it starts from SOS.",
        ),
        Slip(
            "only the last word is read",
            greedy_decode,
            "model.decode(tokens, memory, mask)",
            "model.decode(tokens[:, -1:], memory, mask)",
            "The decoder is shown only the last word. It has no state that remembers the others: "
            "show it everything written so far.",
        ),
        Slip(
            "first place taken",
            greedy_decode,
            "model.decode(tokens, memory, mask)[:, -1]",
            "model.decode(tokens, memory, mask)[:, 0]",
            "The scores at the first place are taken every time; the new word is at the last one.",
        ),
        Slip(
            "nothing fed back",
            greedy_decode,
            "tokens, memory, mask)[:, -1]",
            "tokens[:, :1].expand_as(tokens), memory, mask)[:, -1]",
            "The decoder reads SOS again and again: feed back the words it has written.",
        ),
        Slip(
            "encoded at every step",
            greedy_decode,
            "model.decode(tokens, memory, mask)",
            "model.decode(tokens, *model.encode(source))",
            "The source is encoded anew for every word. It does not change: encode it once, before "
            "the loop.",
        ),
        Slip(
            "padding visible",
            greedy_decode,
            "model.decode(tokens, memory, mask)",
            "model.decode(tokens, memory, None)",
            "The mask is not passed on: the decoder looks at the source's padding.",
        ),
        Slip(
            "one word too many",
            greedy_decode,
            "range(n_max)",
            "range(n_max + 1)",
            "A sentence that does not end is cut after n_max words; you allow one more.",
        ),
        Slip(
            "worst word",
            greedy_decode,
            "argmax",
            "argmin",
            "The worst scored word is written: argmax, not argmin.",
        ),
    ],
    equivalent={
        "greedy_decode: logits.argmax(-1) -> logits.argmax(1)": "logits (B, V) have two axes",
        "greedy_decode: source[:, 0] -> source[:, -1]": "only its shape is used",
        "greedy_decode: source[:, 0] -> source[:, 1]": "only its shape is used",
        "greedy_decode: torch.cat([tokens, word.unsqueeze(1)], 1) -> "
        "torch.cat([tokens, word.unsqueeze(1)], -1)": "ids have two axes: 1 is the last one",
        "greedy_decode: word.unsqueeze(1) -> word.unsqueeze(-1)": "(B) becomes (B, 1) by both",
    },
)


def puzzle() -> Puzzle:
    """How much changing word s of a target changes the score of word t, where nobody shifts it."""
    slip = next(s for s in TRANSFORMER.slips if s.name == "target not shifted")
    draw = Draw("encoder_decoder puzzle")
    config, weights = _transformer(draw)
    model = patched(slip)["Transformer"](**config)
    model.load_state_dict(weights)
    source, target = torch.tensor([[4, 8, 3, 6]]), torch.tensor([[5, 3, 7, 4, EOS]])

    def influence(s):
        changed = target.clone()
        changed[0, s] = 6
        return (model(source, changed) - model(source, target))[0].norm(dim=-1)

    with torch.no_grad():
        table = torch.stack([influence(s) for s in range(5)], dim=1)
    title = "how much changing target word s\nmoves the scores for target word t"
    return Puzzle(table, title, "scores for word t", "target word s")


WHICH_LINE = Choice(
    "which_line",
    points=6,
    right="c",
    answers={
        "a": "Without the causal mask the upper triangle would be filled too: word 3 would move "
        "the scores for word 0. (All columns but the last: the shift drops the last word.)",
        "b": "Padding of the source has nothing to do with the target's words: the picture would "
        "be right, empty on and above the diagonal.",
        "c": "The triangle looks like a healthy causal mask, and the mask is there. But with the "
        "target shifted, place t reads the words before t, so the diagonal would be empty. Here "
        "the scores for word t depend on word t itself: the decoder reads the answer.",
        "d": "With the mask transposed place t reads word t - 1 and all later ones but the last: "
        "the places just below the diagonal, on it and above it would be filled, the rest of the "
        "lower triangle would be empty.",
    },
)


def _with_and_without(own, seed):
    """Train a small Transformer with and without the causal mask, and let both write."""
    from solutions.studies.peeking import compare_masks

    found = compare_masks(own.Transformer, seed)
    with_mask, without = found["with the mask"], found["without"]
    return {
        "loss_with": sum(with_mask["loss"][-5:]) / 5,
        "loss_without": sum(without["loss"][-5:]) / 5,
        "right_with": 100 * with_mask["right"],
        "right_without": 100 * without["right"],
    }


def _what_the_mask_buys(measured: dict) -> str:
    low = measured["loss_without"] < 1.5 * measured["loss_with"]  # in most runs it is a fifth
    writes = measured["right_without"] > 0.5 * measured["right_with"]
    return {(False, False): "a", (True, False): "b", (False, True): "c", (True, True): "d"}[
        low, writes
    ]


PEEKING = Conclusion(
    "what_the_mask_buys",
    points=8,
    probe=_with_and_without,
    inputs=(0,),
    decide=_what_the_mask_buys,
    measures=[Transformer],
    answers={
        letter: "With {whose} Transformer the loss ended at {loss_with:.3f} with the mask and at "
        "{loss_without:.3f} without it; {right_with:.0f}% of new lists were written right with it "
        "and {right_without:.0f}% without."
        for letter in "abcd"
    },
)

QUESTIONS = [BLOCK, DECODER, TRANSFORMER, LOSS, GREEDY, WHICH_LINE, PEEKING]
