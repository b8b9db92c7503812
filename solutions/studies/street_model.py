"""A small language model of the street sentences: train it, score it, let it write."""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.street import (
    DISTANCES,
    END,
    ID,
    SUBJECTS,
    WORDS,
    draw_sentences,
    nats_per_sentence,
    next_word_pairs,
    pronoun_place,
)
from solutions.train import Recipe, train

RECIPE = Recipe(steps=400, batch=32, lr=1e-2, warmup=20)
PATIENT = Recipe(steps=1000, batch=32, lr=1e-2, warmup=20)
PRONOUNS = [ID[p] for p in SUBJECTS]


def next_word_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Average the cross-entropy over every word of every sentence, not the last word only."""
    words, following = batch
    scores, _ = model(words)
    return F.cross_entropy(scores.flatten(0, 1), following.flatten())


def train_street(
    language_model: type, seed: int, recipe: Recipe = RECIPE, n_embd: int = 32, n_state: int = 64
) -> nn.Module:
    """Build a model from a seed and train it on fresh sentences; the class is yours or ours."""
    torch.manual_seed(seed)
    model = language_model(len(WORDS), n_embd, n_state)
    train(model, next_word_pairs, replace(recipe, seed=seed), next_word_loss, progress=False)
    return model


def held_out(n: int = 200) -> list[Tensor]:
    """Draw the same test sentences every time: n for each distance met in training."""
    generator = torch.Generator().manual_seed(2024)
    return [draw_sentences(n, generator, distance) for distance in DISTANCES]


def nats_per_word(log_probabilities, n: int = 200) -> float:
    """Average the surprise over all held-out words.

    log_probabilities(words (n, T)) -> (n, T, V), for the word after each of them.
    """
    total = words = 0
    for ids in held_out(n):
        scores = log_probabilities(ids[:, :-1])
        total -= scores.gather(-1, ids[:, 1:, None]).sum().item()
        words += ids[:, 1:].numel()
    return total / words


def floor() -> float:
    """Return the least that any model can reach on `nats_per_word`: the grammar's own surprise."""
    return sum(map(nats_per_sentence, DISTANCES)) / sum(d + 7 for d in DISTANCES)


def counted(order: int, n: int) -> Tensor:
    """Count a unigram (order 1) or a bigram (2) table of log-probabilities in n sentences.

    -> (V, V): the row of a word holds the next word's; in a unigram table all rows are equal.
    A hundredth is added to every count, so that nothing is impossible.
    """
    generator = torch.Generator().manual_seed(0)
    counts = torch.full((len(WORDS), len(WORDS)), 0.01)
    for _ in range(n // 32):
        words, following = next_word_pairs(32, generator)
        ones = torch.ones(words.numel())
        counts.index_put_((words.flatten(), following.flatten()), ones, accumulate=True)
    if order == 1:
        counts = counts.sum(0, keepdim=True).expand_as(counts)
    return (counts / counts.sum(1, keepdim=True)).log()


@torch.no_grad()
def pronoun_accuracy(model: nn.Module, distance: int, n: int = 500) -> float:
    """Count how often the best scored of the four pronouns agrees with the subject."""
    ids = draw_sentences(n, torch.Generator().manual_seed(distance), distance)
    at = pronoun_place(distance)
    scores, _ = model(ids[:, :at])
    guess = torch.tensor(PRONOUNS)[scores[:, -1, PRONOUNS].argmax(-1)]
    return (guess == ids[:, at]).float().mean().item()


@torch.no_grad()
def write(model: nn.Module, start: str, generator: torch.Generator, most: int = 40) -> str:
    """Continue a text word by word up to the full stop; only the state is carried along."""
    said = start.split()
    scores, h = model(torch.tensor([[ID[w] for w in (END, *said)]]))
    while len(said) < most and (not said or said[-1] != END):
        probabilities = scores[0, -1].softmax(-1)
        chosen = torch.multinomial(probabilities, 1, generator=generator)
        said.append(WORDS[int(chosen)])
        scores, h = model(chosen[None], h)
    return " ".join(said)
