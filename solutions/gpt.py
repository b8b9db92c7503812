"""A language model from the parts of the course: score the next token, at every place at once."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.gpt_block import Block, GPTConfig, draw_weights, make_norm
from solutions.position import LearnedPositions
from solutions.queries_keys_values import causal_mask


def next_token_loss(model, ids: Tensor, padding: int | None = None) -> Tensor:
    """Measure how surprised a model is by every token of a text but the first, in nats.

    ids (B, T + 1) -> a tensor with no axes. The model reads the first T ids of every row,
    (B, T) -> scores (B, T, V) before any softmax; its scores at place t are for the id at
    place t + 1. The loss is the mean of -log p(that id) over all B * T targets, each with
    the same weight. A target equal to `padding` does not count, neither in the sum nor in
    the number of targets. At least one target counts.

    >>> even = lambda ids: torch.zeros(*ids.shape, 4)  # scores 4 tokens alike
    >>> next_token_loss(even, torch.tensor([[0, 3, 1]]))  # log 4
    tensor(1.3863)
    """
    scores, targets = model(ids[:, :-1]), ids[:, 1:]
    ignored = -100 if padding is None else padding  # no id is -100
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=ignored)


def perplexity(losses: Tensor, counts: Tensor) -> Tensor:
    """Turn the losses of several batches into one perplexity: e to the mean loss of a token.

    losses (N), the mean loss in nats over the tokens of each batch; counts (N), how many
    tokens it had -> a tensor with no axes. Each token weighs the same, whatever its batch.

    >>> perplexity(torch.tensor([0.0, math.log(16)]), torch.tensor([30, 10]))
    tensor(2.0000)
    """
    return torch.exp((losses * counts).sum() / counts.sum())


class GPT(nn.Module):
    """Predict every next token of a text from the tokens before it."""

    def __init__(self, config: GPTConfig):
        """Make the parts under these names, in this order, and draw the starting weights.

        config: kept as it is.  token: nn.Embedding of V rows and C columns.
        position: LearnedPositions(block_size, C); None where config.positions is "rotary".
        dropout: nn.Dropout(config.dropout).  blocks: nn.ModuleList of n_layer Block(config),
        each with weights of its own.  norm: make_norm(config).  head: nn.Linear from C to V
        without bias; where config.tied, its weight is the token table itself: one parameter
        under two names. At the end call draw_weights(self, config).

        The causal mask of block_size tokens may be kept here, as a buffer that is no part of the
        saved weights (register_buffer, persistent=False): it moves to the model's device with it.
        """
        super().__init__()
        self.config = config
        self.token = nn.Embedding(config.vocab_size, config.n_embd)
        learned = config.positions == "learned"
        self.position = LearnedPositions(config.block_size, config.n_embd) if learned else None
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.norm = make_norm(config)
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tied:
            self.head.weight = self.token.weight
        draw_weights(self, config)
        self.register_buffer("mask", causal_mask(config.block_size), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Score every token of the vocabulary as the next one, at every place of the text.

        ids (B, T), T up to block_size -> (B, T, V). Look the tokens up, add the positions
        (where there are any), apply the dropout, go through the blocks, each as
        block(x, mask) with the causal mask (T, T), then the norm, then the head. No
        softmax.
        """
        t = ids.size(-1)
        x = self.token(ids)  # (B, T, C)
        if self.position is not None:
            x = self.position(x)
        x = self.dropout(x)
        for block in self.blocks:
            x = block(x, self.mask[:t, :t])
        return self.head(self.norm(x))


def n_parameters(config: GPTConfig) -> int:
    """Count a GPT's parameters from its config alone, without building it.

    The token table has V * C, the positions block_size * C ("rotary": none). Each of the
    L blocks has two norms, four attention matrices C x C and two of the feed-forward layer
    (C x 4C and 4C x C), each of the six with a bias. One more norm stands at the end. A
    norm has a gain and a bias, 2 C numbers ("rms": only the gain). The head has no bias;
    where config.tied it has no numbers of its own.

    >>> n_parameters(GPTConfig(vocab_size=5, block_size=3, n_layer=1, n_head=2, n_embd=4))
    284
    """
    c, norm = config.n_embd, (1 if config.norm == "rms" else 2) * config.n_embd
    tables = (1 if config.tied else 2) * config.vocab_size * c
    positions = config.block_size * c if config.positions == "learned" else 0
    attention = 4 * (c * c + c)
    feed_forward = (c * 4 * c + 4 * c) + (4 * c * c + c)
    return tables + positions + config.n_layer * (2 * norm + attention + feed_forward) + norm


def train_step(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    ids: Tensor,
    clip: float = 1.0,
    padding: int | None = None,
) -> float:
    """Let a model learn from one batch, and say how surprised it was by it.

    ids (B, T + 1) -> the loss before the step, a Python number. In training mode: work out
    `next_token_loss` and the gradients of this batch alone (nothing may be left of an
    earlier one), scale the gradients down together where their joint length is above
    `clip` (nn.utils.clip_grad_norm_), and let the optimiser take its step.
    """
    model.train()
    loss = next_token_loss(model, ids, padding)
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
    return loss.item()
