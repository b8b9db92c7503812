"""Transformer: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.encoder_decoder.shared import (
    drawn_sentences,
    drawn_words,
    elsewhere,
    transformer_of,
)
from autograder.seam.probe import module
from solutions.encoder_decoder import Transformer


def _teaching(b=None, s=None, t=None, **options):
    """Draw a Transformer, sources and targets with padding."""

    def draw(d):
        sizes = d.sizes(3, 3, 6)
        n_b, n_s, n_t = (given or size for given, size in zip((b, s, t), sizes, strict=True))
        config, weights = transformer_of(d, **options)
        return built(
            config, weights, drawn_sentences(d, n_b, n_s, 9), drawn_sentences(d, n_b, n_t, 8, True)
        )

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
    return lambda d: (*transformer_of(d, 1), drawn_sentences(d, b, s, 9))


def _writing(b, t, s):
    def draw(d):
        tokens, memory = d.integers(0, 8, b, t), d.normal(b, s, 6)
        return *transformer_of(d, 1), tokens, memory, drawn_words(d, b, s)

    return draw


SCORE = "return self.decode(shift_right(target), *self.encode(source))"


LAYER_BY_LAYER = (
    "m, c = padding_mask(source, PAD), causal_mask(target.size(1)); "
    "s, t = self.encoder.embedding(source), self.decoder.embedding(shift_right(target)); "
    "[(s := e(s, m), t := d(t, self.encoder.last_norm(s), c, m)) "
    "for e, d in zip(self.encoder.blocks, self.decoder.blocks)]; "
    "return self.out(self.decoder.last_norm(t))"
)


QUESTION = Exercise(
    Transformer,
    parts={"encode": 5, "decode": 3, "forward": 4, GRADIENT: 2, ARGUMENTS: 2},
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
        Case("forward", "on another device", _teaching(n_layer=1), elsewhere),
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
            "written into the target",
            Transformer.forward,
            "shift_right(target)",
            "target.copy_(shift_right(target))",
            "The target that was handed in is shifted itself, and the loss will ask for the words "
            "the decoder has just read: shift a copy.",
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
