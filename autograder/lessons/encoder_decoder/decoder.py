"""Decoder: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.encoder_decoder.shared import drawn_weights, drawn_words, elsewhere
from autograder.seam.probe import module
from solutions.encoder_decoder import Decoder


def _decoder(b=None, t=None, s=None, n_layer=2, norm="pre", causal=True, padded=True):
    """Draw a decoder, ids (B, T) and a memory (B, S, C) with its mask."""

    def draw(d):
        sizes = d.sizes(3, 2, 5)
        n_b, n_t, n_s = (given or size for given, size in zip((b, t, s), sizes, strict=True))
        sizes = {"n_vocab": 8, "n_embd": 6, "n_head": 2, "n_layer": n_layer}
        config = sizes | {"norm": norm, "n_hidden": 7, "causal": causal}
        masks = {"memory_mask": drawn_words(d, n_b, n_s)} if padded else {}
        inputs = (d.integers(0, 8, n_b, n_t), d.normal(n_b, n_s, 6))
        return built(config, drawn_weights(d, Decoder, config), *inputs, **masks)

    return draw


def _after_a_short_one(own, name, config, weights, args, kwargs):
    """Read the first token of every sentence, then the whole sentences with the same decoder."""
    decoder = getattr(own, name)(**config)
    decoder.load_state_dict(weights)
    decoder.eval()
    tokens, memory = args
    return [decoder(part, memory, **kwargs).detach() for part in (tokens[:, :1], tokens)]


LOOP = "for block in self.blocks:\n            x = block(x, memory, mask, memory_mask)"


MASK = "causal_mask(tokens.size(1)).to(tokens.device) if self.causal else None"


QUESTION = Exercise(
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
        Case("the mask", "on another device", _decoder(n_layer=1, padded=False), elsewhere),
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
