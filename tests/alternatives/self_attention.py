"""Other right answers to the exercises of self_attention: each must get full marks."""

import torch
import torch.nn.functional as F


def self_attention_loop__two_inner_loops(x):
    n_word = len(x)
    rows = []
    for t in range(n_word):
        powers = [torch.exp((x[t] * x[s]).sum() - (x[t] * x).sum(-1).max()) for s in range(n_word)]
        total = sum(powers)
        rows.append(sum(p / total * x[s] for s, p in enumerate(powers)))
    return torch.stack(rows)


def self_attention_loop__one_product_a_word(x):
    return torch.stack([torch.softmax(x @ word, dim=-1) @ x for word in x])


def self_attention_loop__filled_in(x):
    out = torch.zeros_like(x)
    for t, word in enumerate(x.unbind(0)):
        weights = torch.softmax(torch.mv(x, word), 0)
        out[t] = torch.einsum("s,sc->c", weights, x)
    return out


def self_attention_loop__no_loop(x):
    return F.softmax(x @ x.T, dim=1) @ x


def self_attention__torch_builtin(x):
    return F.scaled_dot_product_attention(x, x, x, scale=1.0)


def self_attention__einsum(x):
    weights = torch.einsum("...tc,...sc->...ts", x, x).softmax(dim=-1)
    return torch.einsum("...ts,...sc->...tc", weights, x)


def self_attention__columns(x):
    columns = x.mT
    return (columns @ F.softmax(columns.mT @ columns, dim=-2)).mT


def self_attention__exponentials_by_hand(x):
    scores = torch.matmul(x, x.swapaxes(-1, -2))
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    return powers @ x / powers.sum(-1, keepdim=True)


def self_attention__one_word_at_a_time(x):
    rows = [(x @ x[..., t, :, None]).softmax(-2).mT @ x for t in range(x.size(-2))]
    return torch.cat(rows, dim=-2)


def attention_cost__two_terms(n_token, n_embd):
    scores = n_token**2 * n_embd
    averages = n_token * n_embd * n_token
    return scores + averages


def attention_cost__by_rows(n_token, n_embd):
    return n_token * (n_token * n_embd + n_embd * n_token)
