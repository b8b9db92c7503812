"""Train a translator on tiny_french, and measure it: exact matches, and where it looked."""

from collections import Counter, defaultdict
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.tiny_french import MAX_WORDS, PAD, SOS, Pair, encode


def translation_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Average the cross-entropy over the words of the targets; padding does not count."""
    source, target = batch
    return F.cross_entropy(model(source, target).flatten(0, 1), target.flatten(), ignore_index=PAD)


def batches(pairs: list[Pair]) -> Callable[[int, torch.Generator], tuple[Tensor, Tensor]]:
    """Return a function that draws batches of pairs of nearly the same length.

    Long rows cost time and short ones in the same batch would be mostly padding: every batch takes
    a random pair, and the others from those whose French has at most one word more or less.
    """
    source, target, _ = encode(pairs)
    lengths = (source != PAD).sum(1)
    near = {n: (lengths - n).abs().le(1).nonzero()[:, 0] for n in lengths.unique().tolist()}

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        first = int(torch.randint(len(pairs), (), generator=generator))
        some = near[int(lengths[first])]
        rows = some[torch.randint(len(some), (n,), generator=generator)]
        return trimmed(source[rows]), trimmed(target[rows])

    return draw


def trimmed(ids: Tensor) -> Tensor:
    """Cut the columns that hold nothing but padding."""
    return ids[:, : int((ids != PAD).sum(1).max())]


@torch.no_grad()
def exact_matches(model: nn.Module, pairs: list[Pair]) -> Tensor:
    """Say for every pair whether its greedy translation is right to the last word: (B) bool."""
    source, target, _ = encode(pairs)
    written = model.translate(source, MAX_WORDS + 1)
    return (written == F.pad(target, (0, written.size(1) - target.size(1)))).all(1)


@torch.no_grad()
def look(model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    """Return the attention weights (B, T, S) with which a model writes the given targets."""
    start = torch.full_like(target[:, :1], SOS)
    return model.decoder(torch.cat([start, target[:, :-1]], 1), *model.encode(source))[2]


def maxima(model: nn.Module, pairs: list[Pair]) -> tuple[Tensor, Tensor]:
    """Return where every English word of the pairs has its largest weight, and its true place."""
    source, target, truth = encode(pairs)
    known = truth >= 0
    return look(model, source, target).argmax(-1)[known], truth[known]


def word_by_word(training: list[Pair], pairs: list[Pair]) -> Tensor:
    """Translate with a perfect dictionary and no sense of order: which pairs come out right? (B).

    The dictionary holds, for each French word, what it most often became in the training pairs.
    """
    seen: dict[str, Counter] = defaultdict(Counter)
    for pair in training:
        for place, french in enumerate(pair.french):
            became = zip(pair.english, pair.source, strict=True)
            seen[french][tuple(word for word, source in became if source == place)] += 1
    meaning = {french: counts.most_common(1)[0][0] for french, counts in seen.items()}
    written = [[w for french in p.french for w in meaning.get(french, ())] for p in pairs]
    return torch.tensor([tuple(w) == p.english for w, p in zip(written, pairs, strict=True)])
