"""Seq2Seq: the cases it is tried in, and the slips that are known."""

from functools import cache

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import ARGUMENTS, GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from solutions.alignment import Seq2Seq
from solutions.data.tiny_french import EOS, PAD


def _translator(d, n_b=None, n_s=None, n_t=None, **config):
    """Draw a small translator with its weights, and sentences with padding at the end."""
    config = {"n_source": 9, "n_target": 7, "n_embd": 3, "n_hidden": 4} | config
    sizes = d.sizes(3, 3, 6)
    b, s, t = (given or size for given, size in zip((n_b, n_s, n_t), sizes, strict=True))
    weights = d.weights(Seq2Seq(**config), 1.2)
    return config, weights, _sentences(d, b, s, 9), _sentences(d, b, t, 7, end=True)


def _sentences(d, b, n, n_vocab, end=False):
    """Draw ids (B, n) of different lengths, the first of them full; with `end`, EOS comes last."""
    ids = d.integers(EOS + 1, n_vocab, b, n)
    lengths = d.integers(1, n + 1, b)
    lengths[0] = n
    places = torch.arange(n)
    if end:
        ids = ids.masked_fill(places == lengths[:, None] - 1, EOS)
    return ids.masked_fill(places >= lengths[:, None], PAD)


def _teach(own, name, config, weights, source, target):
    """Score the words of a target; gradients of all parameters."""
    import torch

    from autograder.seam.probe import push

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    given = [source, target]
    logits = model(*given)
    named = dict(model.named_parameters())
    seen = {"result": logits, "inputs": given, "parameter gradients": dict.fromkeys(named)}
    if isinstance(logits, torch.Tensor) and logits.requires_grad:
        grads = torch.autograd.grad(logits, list(named.values()), push(logits), allow_unused=True)
        seen["parameter gradients"] = dict(zip(named, grads, strict=True))
    return seen


def _second_batch(own, name, config, weights, source, target):
    """Teach and let write with two batches: the second must not know of the first."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    with torch.no_grad():
        model(source, target), model.translate(source, 3)
        scored = model(source.flip(0), target.flip(0))
        return {"scored": scored, "written": model.translate(source.flip(0), 3)}


def _greedy(own, name, config, weights, source, n_max):
    """Let a translator write."""
    import torch

    model = getattr(own, name)(**config)
    model.load_state_dict(weights)
    model.eval()
    with torch.no_grad():
        return {"result": model.translate(source, n_max), "inputs": [source]}


def _writing(n_max=6, **options):
    """Draw a translator that writes sentences of different lengths, one of them cut."""

    def draw(d):
        return _found(int(d.integers(0, 2**40, 1)), n_max, tuple(options.items()))

    return draw


@cache  # the same case is drawn again for every slip
def _found(seed, n_max, options):
    for attempt in range(200):
        config, weights, source, _ = _translator(Draw(seed, attempt), **dict(options))
        weights["decoder.out.bias"][EOS] += 1.5
        model = Seq2Seq(**config)
        model.load_state_dict(weights)
        with torch.no_grad():
            ended = model.translate(source, n_max) == EOS
        ends = ended.int().argmax(1)[ended.any(1)]
        if ((ends > 0) & (ends < n_max - 2)).any() and (len(source) == 1 or not ended.any(1).all()):
            break
    return config, weights, source, n_max


QUESTION = Exercise(
    Seq2Seq,
    parts={"teacher forcing": 6, "greedy decoding": 7, GRADIENT: 2, ARGUMENTS: 1},
    cases=[
        Case("teacher forcing", "padded sentences", lambda d: _translator(d), _teach),
        Case("teacher forcing", "one sentence", lambda d: _translator(d, n_b=1), _teach),
        Case("greedy decoding", "one batch after another", _translator, _second_batch),
        Case("teacher forcing", "a target of one word", lambda d: _translator(d, n_t=1), _teach),
        Case(
            "teacher forcing",
            "one direction",
            lambda d: _translator(d, bidirectional=False),
            _teach,
        ),
        Case("teacher forcing", "a single vector", lambda d: _translator(d, attend=False), _teach),
        Case("greedy decoding", "sentences of different lengths", _writing(n_b=5), _greedy),
        Case("greedy decoding", "one sentence", _writing(n_b=1), _greedy),
        Case("greedy decoding", "a single vector", _writing(n_b=4, attend=False), _greedy),
        Case(
            "greedy decoding",
            "one word only",
            lambda d: (*_translator(d)[:3], 1),
            _greedy,
        ),
    ],
    slips=[
        Slip(
            "target not shifted",
            Seq2Seq.forward,
            "torch.cat([start, target[:, :-1]], 1)",
            "target + 0 * start",
            "The decoder reads the very word it should predict: the loss will fall to nothing and "
            "the translations will be garbage. Move the target one place to the right, SOS first.",
        ),
        Slip(
            "shifted to the left",
            Seq2Seq.forward,
            "torch.cat([start, target[:, :-1]], 1)",
            "torch.cat([target[:, 1:], start], 1)",
            "The target is moved to the left: the decoder reads the word after the one it should "
            "predict. SOS comes first, then y_1.",
        ),
        Slip(
            "last word first",
            Seq2Seq.forward,
            "torch.cat([start, target[:, :-1]], 1)",
            "target.roll(1, 1) + 0 * start",
            "`roll` moves the last word of the target to the front; the first one read is SOS.",
        ),
        Slip(
            "PAD for SOS",
            Seq2Seq.forward,
            "torch.full_like(target[:, :1], SOS)",
            "torch.full_like(target[:, :1], PAD)",
            "The decoder starts from PAD; it starts from SOS.",
        ),
        Slip(
            "EOS for SOS",
            Seq2Seq.forward,
            "torch.full_like(target[:, :1], SOS)",
            "torch.full_like(target[:, :1], EOS)",
            "The decoder starts from EOS; it starts from SOS.",
        ),
        Slip(
            "one logit too many",
            Seq2Seq.forward,
            "target[:, :-1]",
            "target",
            "The decoder reads T + 1 tokens: after the last word there is nothing to predict, so "
            "leave the last one out.",
        ),
        Slip(
            "nothing fed back",
            Seq2Seq.translate,
            "word = logits.argmax(-1).masked_fill(done, PAD)  # (B, 1)\n"
            "            done = done | (word == EOS)\n"
            "            written.append(word)",
            "new = logits.argmax(-1).masked_fill(done, PAD)\n"
            "            done = done | (new == EOS)\n"
            "            written.append(new)",
            "The decoder reads SOS at every step: feed back the word it has just written.",
        ),
        Slip(
            "state not carried on",
            Seq2Seq.translate,
            "logits, state, _ = self.decoder(",
            "logits, _, _ = self.decoder(",
            "Every step starts from the first state: keep the state that the decoder returns.",
        ),
        Slip(
            "goes on after EOS",
            Seq2Seq.translate,
            ".masked_fill(done, PAD)",
            "",
            "Sentences go on after their EOS; what follows must be PAD.",
        ),
        Slip(
            "EOS left out",
            Seq2Seq.translate,
            "word = logits.argmax(-1).masked_fill(done, PAD)  # (B, 1)\n"
            "            done = done | (word == EOS)",
            "done = done | (logits.argmax(-1) == EOS)\n"
            "            word = logits.argmax(-1).masked_fill(done, PAD)",
            "PAD stands where EOS should: EOS belongs to the sentence, PAD comes after it.",
        ),
        Slip(
            "all stop with the first",
            Seq2Seq.translate,
            "done = done | (word == EOS)",
            "done = done | (word == EOS).any()",
            "One sentence ends and all others stop: every row has an end of its own.",
        ),
        Slip(
            "starts from PAD",
            Seq2Seq.translate,
            "torch.full_like(source[:, :1], SOS)",
            "torch.full_like(source[:, :1], PAD)",
            "Writing starts from PAD; it starts from SOS, as in training.",
        ),
        Slip(
            "stops when all are done",
            Seq2Seq.translate,
            "for _ in range(n_max):",
            "for _ in (i for i in range(n_max) if not done.all()):",
            "Writing stops as soon as all sentences have ended, so there are fewer than n_max "
            "columns: fill up with PAD.",
        ),
    ],
    equivalent={
        "Seq2Seq.forward: torch.cat([start, target[:, :-1]], 1) -> "
        "torch.cat([start, target[:, :-1]], -1)": "ids have two axes: 1 is the last one",
        "Seq2Seq.translate: torch.cat(written, 1) -> torch.cat(written, -1)": "ids have two axes: "
        "1 is the last one",
    },
)
