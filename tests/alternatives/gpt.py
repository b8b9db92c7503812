"""Other right answers to the exercises of gpt: each must get full marks."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from solutions.gpt import GPT, next_token_loss
from solutions.gpt_block import Block, draw_weights, make_norm
from solutions.position import LearnedPositions
from solutions.queries_keys_values import causal_mask


def next_token_loss__classes_second(model, ids, padding=None):
    scores = model(ids[:, :-1]).transpose(1, 2)  # (B, V, T)
    if padding is None:
        return F.cross_entropy(scores, ids[:, 1:])
    return F.cross_entropy(scores, ids[:, 1:], ignore_index=padding)


def next_token_loss__by_hand(model, ids, padding=None):
    logs = torch.log_softmax(model(ids[:, :-1]), dim=-1)
    targets = ids[:, 1:]
    nats = -logs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    counts = torch.ones_like(nats) if padding is None else (targets != padding).to(nats.dtype)
    return (nats * counts).sum() / counts.sum()


def next_token_loss__place_by_place(model, ids, padding=None):
    scores = model(ids[:, :-1])
    found = []
    for row in range(ids.size(0)):
        for t in range(ids.size(1) - 1):
            if padding is None or int(ids[row, t + 1]) != padding:
                found.append(scores[row, t].logsumexp(0) - scores[row, t, ids[row, t + 1]])
    return torch.stack(found).mean()


def perplexity__weights(losses, counts):
    weights = counts / counts.sum()
    return (weights.to(losses.dtype) * losses).sum().exp()


def perplexity__loop(losses, counts):
    total, tokens = losses.new_zeros(()), 0
    for loss, count in zip(losses, counts, strict=True):
        total = total + loss * int(count)
        tokens += int(count)
    return math.e ** (total / tokens)


def perplexity__product(losses, counts):
    return ((-losses).exp() ** (counts / counts.sum()).to(losses)).prod() ** -1


class GPT__made_in_place(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        v, c = config.vocab_size, config.n_embd
        self.token = nn.Embedding(v, c)
        self.position = None
        if config.positions == "learned":
            self.position = LearnedPositions(config.block_size, c)
        self.dropout = nn.Dropout(p=config.dropout)
        self.blocks = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        self.norm = make_norm(config)
        self.head = nn.Linear(c, v, bias=False)
        if config.tied:
            self.token.weight = self.head.weight
        draw_weights(self, config)

    def forward(self, ids):
        t = ids.shape[1]
        stream = self.token(ids)
        if self.config.positions == "learned":
            stream = stream + self.position.table(torch.arange(t, device=ids.device))
        stream = self.dropout(stream)
        allowed = torch.tril(torch.ones(t, t, device=ids.device)).bool()
        for layer in range(self.config.n_layer):
            stream = self.blocks[layer](stream, allowed)
        return self.head(self.norm(stream))


class GPT__head_as_product(GPT):
    def forward(self, ids):
        x = self.token.weight[ids]
        x = self.dropout(x if self.position is None else self.position(x))
        places = torch.arange(ids.size(1), device=ids.device)
        for block in self.blocks:
            x = block(x, places[:, None] >= places)
        return self.norm(x) @ self.head.weight.T


class GPT__one_text_at_a_time(GPT):
    def forward(self, ids):
        return torch.cat([super(GPT__one_text_at_a_time, self).forward(row[None]) for row in ids])


def n_parameters__closed_form(config):
    c, layers = config.n_embd, config.n_layer
    norm = c if config.norm == "rms" else 2 * c
    total = config.vocab_size * c * (2 - config.tied) + layers * (12 * c**2 + 9 * c)
    total += (2 * layers + 1) * norm
    return total if config.positions == "rotary" else total + config.block_size * c


def n_parameters__on_the_meta_device(config):
    with torch.device("meta"):
        return sum(p.numel() for p in GPT(config).parameters())


def train_step__model_cleared(model, optimiser, ids, clip=1.0, padding=None):
    model.zero_grad()
    model.train(True)
    loss = next_token_loss(model, ids, padding=padding)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=clip)
    optimiser.step()
    return float(loss.detach())


def train_step__clipped_by_hand(model, optimiser, ids, clip=1.0, padding=None):
    model.train()
    optimiser.zero_grad(set_to_none=False)
    loss = next_token_loss(model, ids, padding)
    loss.backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    length = math.sqrt(sum(float(g.square().sum()) for g in grads))
    if length > clip:
        for g in grads:
            g.mul_(clip / length)
    optimiser.step()
    return loss.detach().item()


def perplexity__plain_numbers(losses, counts):
    total = sum(float(loss) * int(n) for loss, n in zip(losses, counts, strict=True))
    return torch.tensor(math.exp(total / int(counts.sum())))


class GPT__mask_made_in_every_call(GPT):
    def forward(self, ids):
        x = self.token(ids)
        x = self.dropout(x if self.position is None else self.position(x))
        mask = causal_mask(ids.size(-1)).to(ids.device)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


class GPT__mask_kept_and_saved(GPT):
    """The largest mask is a buffer that is saved with the weights, and a corner of it used."""

    def __init__(self, config):
        super().__init__(config)
        self.register_buffer("mask", causal_mask(config.block_size))

    def forward(self, ids):
        x = self.token(ids)
        x = self.dropout(x if self.position is None else self.position(x))
        for block in self.blocks:
            x = block(x, self.mask[: ids.size(1), : ids.size(1)])
        return self.head(self.norm(x))


def train_step__mode_given_back(model, optimiser, ids, clip=1.0, padding=None):
    before = model.training
    model.train()
    loss = next_token_loss(model, ids, padding)
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
    model.train(before)
    return loss.item()
