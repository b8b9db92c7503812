"""A language model of one block, small enough to read every number in it."""

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.data.street import DISTANCES, END, ID, WORDS, next_word_pairs
from solutions.layer_norm import LayerNorm, TransformerBlock
from solutions.position import LearnedPositions
from solutions.queries_keys_values import causal_mask
from solutions.train import Recipe, train

SENTENCE = "the animal did not cross the street because it was too tired"
N_EMBD, N_HEAD = 8, 2
RECIPE = Recipe(steps=1500, batch=32, lr=1e-2, warmup=100)


class OneBlock(nn.Module):
    """Score the next word of a street sentence: two tables, one block, a norm, the word scores."""

    def __init__(self, n_embd: int = N_EMBD, n_head: int = N_HEAD):
        super().__init__()
        self.token = nn.Embedding(len(WORDS), n_embd)
        self.position = LearnedPositions(max(DISTANCES) + 7, n_embd)
        self.block = TransformerBlock(n_embd, n_head)
        self.norm = LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, len(WORDS), bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Score every word as the next one: ids (B, T) -> (B, T, V)."""
        x = self.position(self.token(ids))
        return self.head(self.norm(self.block(x, causal_mask(ids.size(-1)))))


def sentence_ids(sentence: str = SENTENCE) -> Tensor:
    """Number a sentence, with the full stop before it that says where a sentence starts: (T)."""
    return torch.tensor([ID[word] for word in (END, *sentence.split())])


def train_one_block(seed: int, recipe: Recipe = RECIPE) -> OneBlock:
    """Train on fresh sentences, each word from the words before it."""
    torch.manual_seed(seed)
    model = OneBlock()

    def loss(model, batch):
        words, following = batch
        return F.cross_entropy(model(words).mT, following)

    train(model, next_word_pairs, replace(recipe, seed=seed), loss, progress=False)
    return model.eval()
