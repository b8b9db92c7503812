"""greedy_decode: the cases it is tried in, and the slips that are known."""

from functools import cache

import torch

from autograder.checks.draw import Draw
from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.encoder_decoder.shared import drawn_sentences
from solutions.data.tiny_french import EOS
from solutions.encoder_decoder import greedy_decode


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
        table, source = d.normal(29, 7), drawn_sentences(d, b, s, 9)
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


QUESTION = Exercise(
    greedy_decode,
    parts={"words": 6, "the end of a sentence": 4, "the end of a batch": 4},
    cases=[
        Case(
            "words",
            "one word",
            lambda d: (d.normal(29, 7), drawn_sentences(d, 3, 4, 9), 1),
            _greedy,
        ),
        Case(
            "words",
            "one sentence, cut at n_max",
            (
                lambda d: (
                    d.normal(29, 7) - 50 * (torch.arange(7) == EOS),
                    drawn_sentences(d, 1, 5, 9),
                    5,
                )
            ),
            _greedy,
        ),
        Case(
            "words",
            "a batch, cut at n_max",
            lambda d: (
                d.normal(29, 7) - 50 * (torch.arange(7) == EOS),
                drawn_sentences(d, 4, 5, 9),
                6,
            ),
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
