"""KVCache: the cases it is tried in, and the slips that are known."""

import inspect

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.generate.shared import drawn_config, drawn_weights
from solutions.kv_cache import KVCache


def _extended(own, name, n_layer, layer, keys, values):
    """Extend one layer again and again: what is returned, what is kept, what else changed."""
    cache = getattr(own, name)(n_layer)
    returned = []
    for k, v in zip(keys, values, strict=True):
        pair = cache.extend(layer, k, v)
        returned.append([x.clone() for x in pair])
    others = [cache.keys[i] is None for i in range(n_layer) if i != layer]
    return {
        "returned": returned,
        "kept keys": cache.keys[layer],
        "kept values": cache.values[layer],
        "other layers empty": others,
        "inputs": [*keys, *values],
    }


def _chunks(*lengths, layer=1):
    def draw(d):
        b, h, size = d.sizes(3, 2, 6)
        keys = [d.normal(b, h, t, size) for t in lengths]
        return 3, layer, keys, [d.normal(*k.shape) for k in keys]

    return draw


def _read(own, name, config, weights, pieces):
    """Read a text piece by piece: the scores of every piece, and what the cache holds after it.

    For every piece, too: how many tokens went through the first block.
    """
    import torch

    from solutions.gpt import GPT
    from solutions.gpt_block import GPTConfig

    model = GPT(GPTConfig(**config))
    model.load_state_dict(weights)
    model.eval()
    cache = getattr(own, name)(config["n_layer"])
    scores, sent, totals = [], [], []
    model.blocks[0].register_forward_hook(lambda block, given, out: sent.append(out.size(1)))
    with torch.no_grad():
        for piece in pieces:
            scores.append(cache.read(model, piece))
            totals.append(sum(sent))
    return {
        "scores": scores,
        "tokens sent through the first block so far": totals,
        "tokens read": len(cache),
        "keys": list(cache.keys),
        "values": list(cache.values),
        "inputs": pieces,
    }


def _pieces(*lengths, b=3, **options):
    def draw(d):
        config = drawn_config(**options)
        return config, drawn_weights(d, config), [d.integers(0, 9, b, t) for t in lengths]

    return draw


JOIN = (
    "k = torch.cat([self.keys[layer], k], dim=-2)\n"
    "            v = torch.cat([self.values[layer], v], dim=-2)"
)


READ = inspect.getsource(KVCache.read).rpartition('"""')[2].strip()  # without the docstring


READ_AGAIN = READ.replace(
    "start, t = len(self), ids.size(-1)",
    "new, ids = ids.size(-1), torch.cat([self.text, ids], -1) if len(self) else ids; "
    "self.text = ids; self.__init__(len(self.keys)); start, t = 0, ids.size(-1)",
).replace("model.head(model.norm(x))", "model.head(model.norm(x))[:, -new:]")


QUESTION = Exercise(
    KVCache,
    parts={"extend": 6, "one token at a time": 6, "several tokens at a time": 4, "rotary": 4},
    cases=[
        Case("extend", "three times one token", _chunks(1, 1, 1), _extended),
        Case("extend", "pieces of different length", _chunks(3, 1, 2), _extended),
        Case("extend", "the first time", _chunks(4, layer=0), _extended),
        Case("one token at a time", "a text of four, then one by one", _pieces(4, 1, 1), _read),
        Case("one token at a time", "from the start, one text", _pieces(1, 1, 1, b=1), _read),
        Case("one token at a time", "up to the block size", _pieces(5, 1, 1, n_layer=3), _read),
        Case("several tokens at a time", "the whole text at once", _pieces(6), _read),
        Case("several tokens at a time", "in pieces", _pieces(2, 3, 2), _read),
        Case("rotary", "one by one", _pieces(3, 1, 1, positions="rotary"), _read),
        Case("rotary", "in pieces", _pieces(2, 3, 2, positions="rotary"), _read),
    ],
    slips=[
        Slip(
            "joined along the heads",
            KVCache.extend,
            JOIN,
            JOIN.replace("dim=-2", "dim=-3"),
            "New keys are joined as if they were further heads. Tokens stand on the axis before "
            "the last, of (B, H, T, D): dim=-2.",
        ),
        Slip(
            "joined along the batch",
            KVCache.extend,
            JOIN,
            JOIN.replace("dim=-2", "dim=0"),
            "New keys are joined as if they were further texts: join along the tokens, dim=-2.",
        ),
        Slip(
            "joined along the columns",
            KVCache.extend,
            JOIN,
            JOIN.replace("dim=-2", "dim=-1"),
            "New keys are joined as further columns: join along the tokens, dim=-2.",
        ),
        Slip(
            "new before old",
            KVCache.extend,
            JOIN,
            "k = torch.cat([k, self.keys[layer]], dim=-2)\n"
            "            v = torch.cat([v, self.values[layer]], dim=-2)",
            "The new tokens stand in front of the old ones: the old come first.",
        ),
        Slip(
            "values forgotten",
            KVCache.extend,
            JOIN,
            "k = torch.cat([self.keys[layer], k], dim=-2)\n"
            "            v = torch.cat([self.values[layer], torch.zeros_like(v)], dim=-2)",
            "The new values do not arrive in the cache: keys and values grow together.",
        ),
        Slip(
            "keys for values",
            KVCache.extend,
            "torch.cat([self.values[layer], v], dim=-2)",
            "torch.cat([self.keys[layer], v], dim=-2)",
            "The new values are joined to the old keys: values to values.",
        ),
        Slip(
            "only the new ones returned",
            KVCache.extend,
            "return k, v",
            "return k[..., -1:, :], v[..., -1:, :]",
            "Only the newest token's key and value are returned: the block needs all of them.",
        ),
        Slip(
            "only the new ones kept",
            KVCache.extend,
            JOIN + "\n        self.keys[layer], self.values[layer] = k, v\n        return k, v",
            "old = self.keys[layer], self.values[layer]\n"
            "            self.keys[layer], self.values[layer] = k, v\n"
            "            return torch.cat([old[0], k], -2), torch.cat([old[1], v], -2)\n"
            "        self.keys[layer], self.values[layer] = k, v; return k, v",
            "The right keys are returned, but only the new ones are kept: the next call has lost "
            "the older tokens.",
        ),
        Slip(
            "positions restarted",
            KVCache.read,
            "x = model.position(x, start)",
            "x = model.position(x)",
            "Every piece gets the positions 0, 1, ... again: new token t stands at start + t.",
        ),
        Slip(
            "rotary positions restarted",
            KVCache.read,
            "x = block(x, mask, start, self.at(layer))",
            "x = block(x, mask, 0, self.at(layer))",
            "The blocks are told that every piece starts at 0. With rotary positions the angles "
            "restart: pass `start`.",
        ),
        Slip(
            "mask without the start",
            KVCache.read,
            ".tril(start)",
            ".tril()",
            "The mask is cut as if the new tokens stood at 0: token t may look at the tokens 0 to "
            "start + t. Shift the diagonal by start.",
        ),
        Slip(
            "mask one too far",
            KVCache.read,
            ".tril(start)",
            ".tril(start + 1)",
            "Every token sees one token of the future: the diagonal of the mask is one too far.",
        ),
        Slip(
            "mask one too short",
            KVCache.read,
            ".tril(start)",
            ".tril(max(start - 1, 0))",
            "After the first piece no token sees itself: the diagonal is one too low.",
        ),
        Slip(
            "no mask among the new tokens",
            KVCache.read,
            ".tril(start)",
            "",
            "The new tokens see each other's future. For one token that is no harm; read several "
            "at once and it is.",
        ),
        Slip(
            "cache not used",
            KVCache.read,
            "x = block(x, mask, start, self.at(layer))",
            "self.at(layer).extend(*[block.attention.out(x).unflatten(-1, (block.attention.n_head,"
            " -1)).transpose(1, 2)] * 2); x = block(x, mask[:, start:], start)",
            "The blocks are called without the cache: new tokens see only each other.",
        ),
        Slip(
            "mask of numbers",
            KVCache.read,
            "dtype=torch.bool, ",
            "",
            "The mask is made of ones and zeros, which are *added* to the scores. It must be of "
            "dtype bool, where True means that looking is allowed.",
        ),
        Slip(
            "start counted anew in every block",
            KVCache.read,
            "x = block(x, mask, start, ",
            "x = block(x, mask, len(self), ",
            "After the first block the cache holds the new tokens too, so len(self) is no longer "
            "the start: count once, before the blocks.",
        ),
        Slip(
            "everything read again",
            KVCache.read,
            READ,
            READ_AGAIN,
            "The scores are right, but every call sends the whole text through the blocks again: "
            "what the cache is there to spare. Send the new tokens only.",
        ),
        Slip(
            "no last norm",
            KVCache.read,
            "model.head(model.norm(x))",
            "model.head(x)",
            "The norm before the head is missing.",
        ),
        Slip(
            "no positions",
            KVCache.read,
            "x = model.position(x, start)",
            "x = x",
            "The positions are not added.",
        ),
    ],
    equivalent={
        **{
            f"KVCache.extend: torch.cat([self.{kept}[layer], {new}], dim=-2) -> "
            f"torch.cat([self.{kept}[layer], {new}], dim=2)": "of four axes the last but one is 2"
            for kept, new in (("keys", "k"), ("values", "v"))
        },
        "KVCache.read: ids.size(-1) -> ids.size(1)": "with two axes the last one is axis 1",
        "KVCache.read: torch.ones(t, start + t, dtype=torch.bool, device=ids.device) -> "
        "torch.ones(t, start + t, dtype=torch.bool)": "the checks run where new tensors are made",
    },
)
