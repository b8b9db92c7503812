"""mask_tokens: the cases it is tried in, and the slips that are known."""

import torch

from autograder.checks.draw import args
from autograder.checks.question import ARGUMENTS, Case, Exercise
from autograder.checks.slips import Slip
from solutions.bert import mask_tokens


def _uniform(d, *shape):
    """Numbers from 0 to 1 that keep away from every threshold by more than any rounding."""
    steps = torch.randint(4096, (3, *shape), generator=d.generator)
    return (steps + 0.5) / 4096


def _masked(*shape, share=0.5, special=False):
    def draw(d):
        n_special, n_vocab = d.random.randint(4, 6), d.random.randint(20, 40)
        ids = d.integers(0 if special else n_special, n_vocab, *shape)
        mask_id = d.random.randrange(1, n_special)
        return args(ids, _uniform(d, *shape), n_vocab, n_special, mask_id, share)

    return draw


def _default_share(d):
    return args(d.integers(5, 30, 4, 60), _uniform(d, 4, 60), 30, 5, 4)


def _first_and_last_word(d):
    """Every id from the first special one to the last word, all of them drawn to be chosen."""
    n_special = d.random.randint(4, 6)
    ids = torch.arange(n_special + 6).repeat(3, 1)
    draws = _uniform(d, *ids.shape)
    draws[0] = 0.01
    return args(ids, draws, n_special + 6, n_special, 2)


def _on_the_edges(d):
    """Draws that equal a threshold exactly, in float64: they are not below it."""
    ids = d.integers(5, 30, 2, 12)
    draws = _uniform(d, 2, 12).double()
    draws[0] = torch.tensor([0.25, 0.5]).repeat(6)  # share is 0.5
    draws[1, 0], draws[1, 1] = 0.8, 0.9
    return args(ids, draws, 30, 5, 3, 0.5)


def _outermost_words(d):
    """Random tokens from the lowest and from the highest draw."""
    ids = d.integers(4, 20, 2, 9)
    draws = _uniform(d, 2, 9)
    draws[0], draws[1] = 0.1, 0.85
    draws[2, 0], draws[2, 1] = 0.0, 0.9999
    return args(ids, draws, 20, 4, 3, 0.5)


LABELS = "labels = torch.where(chosen, ids, IGNORE)"


HIDE = "return torch.where(chosen & (draws[1] < 0.8), mask_id, hidden), labels"


QUESTION = Exercise(
    mask_tokens,
    parts={"values": 9, "special tokens": 4, "edges": 3, ARGUMENTS: 2},
    cases=[
        Case("values", "a batch, half of it chosen", _masked(3, 25)),
        Case("values", "a batch with the usual share", _default_share),
        Case("values", "everything chosen", _masked(2, 30, share=1.0)),
        Case("values", "nothing chosen", _masked(2, 5, share=0.0)),
        Case("values", "one text", _masked(17)),
        Case("values", "three axes", _masked(2, 3, 14)),
        Case("special tokens", "special tokens among the words", _masked(3, 40, special=True)),
        Case("special tokens", "every id once", _first_and_last_word),
        Case("edges", "draws on a threshold", _on_the_edges),
        Case("edges", "the first and the last word as random tokens", _outermost_words),
    ],
    slips=[
        Slip(
            "special tokens chosen",
            mask_tokens,
            "(draws[0] < share) & (ids >= n_special)",
            "(draws[0] < share)",
            "Special tokens are hidden too: an id below n_special ([PAD], [CLS], ...) is never "
            "chosen.",
        ),
        Slip(
            "first word taken for special",
            mask_tokens,
            "ids >= n_special",
            "ids > n_special",
            "The word with the id n_special is never chosen: special ids are those below it.",
        ),
        Slip(
            "always [MASK]",
            mask_tokens,
            "chosen & (draws[1] < 0.8), mask_id",
            "chosen, mask_id",
            "Every chosen token becomes [MASK]; of ten, one becomes a random token and one stays, "
            "so that the model must have an opinion on visible words too.",
        ),
        Slip(
            "never kept",
            mask_tokens,
            "chosen & (draws[1] < 0.9)",
            "chosen",
            "No chosen token is kept as it is: from 0.9 on it stays itself (and is still asked "
            "for).",
        ),
        Slip(
            "never random",
            mask_tokens,
            "other, ids)",
            "ids, ids)",
            "No chosen token becomes a random one: with a draw from 0.8 on, below 0.9, it does.",
        ),
        Slip(
            "random and kept exchanged",
            mask_tokens,
            "hidden = torch.where(chosen & (draws[1] < 0.9), other, ids)",
            "hidden = torch.where(chosen & (draws[1] >= 0.9), other, ids)",
            "From 0.8 to 0.9 the token stays and from 0.9 on it becomes random; it is the other "
            "way round.",
        ),
        Slip(
            "one draw for both questions",
            mask_tokens,
            "hidden = torch.where(chosen & (draws[1] < 0.9), other, ids)\n    " + HIDE,
            "hidden = torch.where(chosen & (draws[0] < 0.9), other, ids)\n    "
            + HIDE.replace("draws[1]", "draws[0]"),
            "draws[0] decides both whether a token is chosen and what becomes of it: with a share "
            "of 0.15 every chosen token would become [MASK]. The second question has draws[1].",
        ),
        Slip(
            "chosen by text",
            mask_tokens,
            "(draws[0] < share)",
            "(draws[0][..., :1] < share)",
            "All tokens of a text share one draw, so a text is hidden whole or not at all: every "
            "token has its own.",
        ),
        Slip(
            "the other share chosen",
            mask_tokens,
            "draws[0] < share",
            "draws[0] > share",
            "The tokens whose draw is above share are chosen: 85% instead of 15%.",
        ),
        Slip(
            "share fixed",
            mask_tokens,
            "draws[0] < share",
            "draws[0] < 0.15",
            "share is an argument, but 0.15 is written into the body.",
        ),
        Slip(
            "labels everywhere",
            mask_tokens,
            LABELS,
            "labels = ids.clone()",
            "Every token has a label, so the loss also counts words that stand there to be read: "
            "copying them would be most of the work. Put -100 where nothing was chosen.",
        ),
        Slip(
            "labels of the others",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen, IGNORE, ids)",
            "The labels stand where nothing was chosen and -100 where something was: the two are "
            "exchanged.",
        ),
        Slip(
            "[MASK] as label",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen, mask_id, IGNORE)",
            "The label is [MASK]: it should be the token that stood there before.",
        ),
        Slip(
            "no label for kept tokens",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen & (draws[1] < 0.9), ids, IGNORE)",
            "A chosen token that is kept has no label: it is asked for like the others.",
        ),
        Slip(
            "labels at [MASK] only",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen & (draws[1] < 0.8), ids, IGNORE)",
            "Only [MASK] has a label: chosen tokens that became random or were kept are asked for "
            "too.",
        ),
        Slip(
            "0 for no label",
            mask_tokens,
            "torch.where(chosen, ids, IGNORE)",
            "torch.where(chosen, ids, 0)",
            "Places that are not asked for have the label 0, which is [PAD]: the model would learn "
            "to predict padding. Use -100, which the loss leaves out.",
        ),
        Slip(
            "special tokens as random ones",
            mask_tokens,
            "n_special + (draws[2] * (n_vocab - n_special)).to(ids.dtype)",
            "(draws[2] * n_vocab).to(ids.dtype)",
            "A random token may be a special one: draw among the words, from n_special on.",
        ),
        Slip(
            "written into ids",
            mask_tokens,
            HIDE,
            "return ids.copy_(torch.where(chosen & (draws[1] < 0.8), mask_id, hidden)), labels",
            "The caller's ids are changed, so the same story is hidden more and more from epoch to "
            "epoch: return a new tensor.",
        ),
    ],
)
