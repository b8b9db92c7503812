"""multi_head: the reference against nn.MultiheadAttention, and what only a right layer does."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autograder.checks.marking import mark
from autograder.lessons import load
from solutions import multi_head
from solutions.multi_head import MultiHeadAttention, merge_heads, split_heads
from solutions.queries_keys_values import causal_mask, scaled_dot_product_attention

LESSON = load("multi_head")
B, T, S, H, D = 2, 3, 5, 4, 6
C = H * D


@pytest.fixture
def draw():
    torch.manual_seed(0)
    return lambda *shape: 1.5 * torch.randn(*shape)


def copied(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """Return torch's layer with our weights."""
    bias = ours.out.bias is not None
    theirs = nn.MultiheadAttention(C, H, bias=bias, batch_first=True).eval()
    projections = (ours.query, ours.key, ours.value)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        theirs.out_proj.weight.copy_(ours.out.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
            theirs.out_proj.bias.copy_(ours.out.bias)
    return theirs


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ["self", "cross", "causal", "mask for each sentence"])
def test_the_layer_agrees_with_torchs_own_with_the_same_weights(draw, kind, bias):
    ours = MultiHeadAttention(C, H, bias=bias)
    x = draw(B, T, C)
    context = draw(B, S, C) if kind in ("cross", "mask for each sentence") else x
    mask = causal_mask(T) if kind == "causal" else None
    if kind == "mask for each sentence":
        mask = torch.rand(B, T, S) < 0.6
        mask[..., 0] = True
    hidden = None if mask is None else ~mask  # torch's True means: do not look
    if mask is not None and mask.dim() == 3:
        hidden = hidden.repeat_interleave(H, 0)
    theirs, _ = copied(ours)(x, context, context, attn_mask=hidden)
    mine = ours(x, None if context is x else context, mask)
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


def test_merging_undoes_splitting(draw):
    x = draw(B, T, C)
    assert split_heads(x, H).shape == (B, H, T, D)
    assert torch.equal(merge_heads(split_heads(x, H)), x)


def test_head_h_gets_its_own_columns_of_every_token(draw):
    x = draw(B, T, C)
    for h in range(H):
        assert torch.equal(split_heads(x, H)[:, h], x[..., h * D : (h + 1) * D])


def test_attention_agrees_with_torchs_own(draw):
    q, k, v = draw(B, H, T, D), draw(B, H, S, D), draw(B, H, S, D)
    mask = torch.rand(T, S) < 0.6
    mask[:, 0] = True
    for m in (None, mask):
        theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
        torch.testing.assert_close(scaled_dot_product_attention(q, k, v, m), theirs)


def test_a_token_that_may_look_at_nothing_gets_the_bias_only_and_no_nan(draw):
    layer = MultiHeadAttention(C, H, bias=True)
    mask = torch.ones(T, T, dtype=torch.bool)
    mask[1] = False
    result = layer(draw(B, T, C), mask=mask)
    torch.testing.assert_close(result[:, 1], layer.out.bias.expand(B, C))
    result.sum().backward()
    assert all(p.grad.isfinite().all() for p in layer.parameters())


def test_permuting_the_tokens_permutes_the_outputs(draw):
    layer, x = MultiHeadAttention(C, H), draw(B, T, C)
    order = torch.tensor([2, 0, 1])
    torch.testing.assert_close(layer(x[:, order]), layer(x)[:, order])


def test_permuting_the_context_changes_nothing(draw):
    layer, x, context = MultiHeadAttention(C, H), draw(B, T, C), draw(B, S, C)
    torch.testing.assert_close(layer(x, context.flip(1)), layer(x, context))


def test_a_later_token_never_changes_an_earlier_output(draw):
    layer, x = MultiHeadAttention(C, H), draw(B, S, C)
    before = layer(x, mask=causal_mask(S))
    for t in range(1, S):
        changed = x.clone()
        changed[:, t:] += 3.0
        after = layer(changed, mask=causal_mask(S))
        assert torch.equal(after[:, :t], before[:, :t])
        assert not torch.allclose(after[:, t:], before[:, t:])


def test_no_sentence_of_a_batch_changes_another(draw):
    layer, x = MultiHeadAttention(C, H), draw(B, T, C)
    torch.testing.assert_close(layer(x)[:1], layer(x[:1]))


def test_a_gradient_reaches_every_parameter(draw):
    layer = MultiHeadAttention(C, H, bias=True)
    layer(draw(B, T, C)).square().sum().backward()
    reached = {name for name, p in layer.named_parameters() if p.grad.abs().max() > 1e-3}
    # a bias of the keys adds the same number to all scores of a query: it has no effect
    assert reached == {name for name, _ in layer.named_parameters()} - {"key.bias"}


def test_a_width_that_the_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match="n_embd=10 cannot be shared out evenly among 4 heads"):
        MultiHeadAttention(10, 4)


def test_the_layer_runs_on_another_device():
    with torch.device("meta"):
        layer, x, context = MultiHeadAttention(C, H), torch.empty(B, T, C), torch.empty(B, S, C)
        mask = torch.ones(T, S, dtype=torch.bool)
    result = layer(x, context, mask)
    assert result.is_meta and result.shape == (B, T, C)


class Open(MultiHeadAttention):
    """The layer with its pieces laid open, so that a wrong answer can change one."""

    def scaled(self, scores, q):
        return scores / math.sqrt(q.size(-1))

    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(-1)
        return scores.masked_fill(~mask, -1e9).softmax(-1) * mask

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q = split_heads(self.query(x), self.n_head)
        k, v = (split_heads(p(context), self.n_head) for p in (self.key, self.value))
        mask = None if mask is None else mask.unsqueeze(-3)
        return self.out(merge_heads(self.weigh(self.scaled(q @ k.mT, q), mask) @ v))


def layer(**methods):
    return type("Layer", (Open,), methods)


def around(change):
    """A layer whose forward is `change(right, self, x, context, mask)`."""

    def forward(self, x, context=None, mask=None):
        return change(super(made, self).forward, self, x, context, mask)

    made = layer(forward=forward)
    return made


def filled(scores, mask, value):
    return scores if mask is None else scores.masked_fill(~mask, value)


def tril(x):
    return torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()


# plausible, wrong, and none of them among the slips
WRONG = {
    "split_heads": {
        "four axes only": lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 2, 1, 3),
        "axes from the front": lambda x, n: x.unflatten(-1, (n, -1)).transpose(1, 2),
        "heads in the batch": lambda x, n: torch.cat(x.chunk(n, -1), 0),
        "heads in front of all": lambda x, n: torch.stack(x.chunk(n, -1)),
        "pieces of n columns": lambda x, n: torch.stack(x.split(n, -1), -3),
        "every n-th column": lambda x, n: torch.stack([x[..., h::n] for h in range(n)], -3),
        "tokens last": lambda x, n: x.transpose(-2, -1).unflatten(-2, (n, -1)),
        "no gradient": lambda x, n: split_heads(x, n).detach(),
        "a list": lambda x, n: list(x.chunk(n, -1)),
        "always float": lambda x, n: split_heads(x.float(), n),
        "heads behind the batch": lambda x, n: torch.stack(x.chunk(n, -1), 1),
        "columns turned round": lambda x, n: split_heads(x, n).flip(-1),
    },
    "merge_heads": {
        "four axes only": lambda x: x.permute(0, 2, 1, 3).flatten(2),
        "axes from the front": lambda x: x.transpose(1, 2).flatten(2),
        "a view of what cannot be viewed": lambda x: x.transpose(-3, -2).view(
            *x.shape[:-3], x.size(-2), -1
        ),
        "batch joined": lambda x: torch.cat(list(x), -1),
        "heads below each other": lambda x: torch.cat(x.unbind(-3), -2),
        "columns and tokens exchanged": lambda x: x.mT.flatten(-2),
        "columns in front of heads": lambda x: x.movedim(-3, -1).flatten(-2),
        "everything flat": lambda x: x.flatten(-3),
        "no gradient": lambda x: merge_heads(x).detach(),
        "the largest of the heads": lambda x: x.amax(-3),
        "the last head only": lambda x: x[..., -1, :, :].repeat_interleave(x.size(-3), -1),
    },
    "MultiHeadAttention": {
        "scaled by heads": layer(scaled=lambda self, s, q: s / math.sqrt(self.n_head)),
        "scaled by D": layer(scaled=lambda self, s, q: s / q.size(-1)),
        "scaled by tokens": layer(scaled=lambda self, s, q: s / math.sqrt(q.size(-2))),
        "mask added": layer(weigh=lambda self, s, m: (s if m is None else s + m).softmax(-1)),
        "masked with zero": layer(weigh=lambda self, s, m: filled(s, m, 0.0).softmax(-1)),
        "masked after": layer(weigh=lambda self, s, m: s.softmax(-1) * (1 if m is None else m)),
        "softmax over queries": layer(weigh=lambda self, s, m: filled(s, m, -1e9).softmax(-2)),
        "nan": layer(weigh=lambda self, s, m: filled(s, m, -math.inf).softmax(-1)),
        "blind sees all": layer(weigh=lambda self, s, m: filled(s, m, -1e9).softmax(-1)),
        "no softmax": layer(weigh=lambda self, s, m: filled(s, m, 0.0)),
        "relu": around(lambda right, self, x, c, m: right(x, c, m).relu()),
        "a pair": around(lambda right, self, x, c, m: (right(x, c, m), None)),
        "projected twice": around(lambda right, self, x, c, m: self.out(right(x, c, m))),
        "always causal": around(
            lambda right, self, x, c, m: right(x, c, tril(x) if c is m is None else m)
        ),
        "context asks": around(lambda right, self, x, c, m: right(x if c is None else c, c, m)),
        "first mask for all": around(
            lambda right, self, x, c, m: right(x, c, m if m is None or m.dim() == 2 else m[0])
        ),
        "mask only without a context": around(
            lambda right, self, x, c, m: right(x, c, m if c is None else None)
        ),
        "x and context together": around(
            lambda right, self, x, c, m: right(
                x, c if m is not None or c is None else torch.cat([x, c], 1), m
            )
        ),
        "x changed": around(lambda right, self, x, c, m: right(x.mul_(1.01), c, m)),
        "mask changed": around(
            lambda right, self, x, c, m: right(x, c, m if m is None else ~m.logical_not_())
        ),
        "context detached": around(
            lambda right, self, x, c, m: right(x, (x if c is None else c).detach(), m)
        ),
        "dropout left on": around(lambda right, self, x, c, m: F.dropout(right(x, c, m), 0.2)),
        "input normalised": around(
            lambda right, self, x, c, m: right(F.layer_norm(x, x.shape[-1:]), c, m)
        ),
    },
}
RIGHT = {
    "split_heads": {
        "a view": lambda x, n: x.view(*x.shape[:-1], n, -1).transpose(-3, -2),
        "copied": lambda x, n: split_heads(x, n).clone(memory_format=torch.contiguous_format),
    },
    "merge_heads": {"copied": lambda x: merge_heads(x.contiguous()).clone()},
    "MultiHeadAttention": {
        "laid open": Open,
        "dropout off": around(lambda r, self, x, c, m: F.dropout(r(x, c, m), 0.2, self.training)),
        "nan made zero": layer(
            weigh=lambda self, s, m: filled(s, m, -math.inf).softmax(-1).nan_to_num(0.0)
        ),
        "not contiguous": around(lambda r, self, x, c, m: r(x, c, m).mT.contiguous().mT),
        "wider softmax": layer(
            weigh=lambda self, s, m: Open.weigh(self, s.double(), m).to(s.dtype)
        ),
    },
}


def answers(table):
    return [(name, how) for name, hows in table.items() for how in hows]


@pytest.mark.parametrize("name, how", answers(WRONG))
def test_a_plausible_wrong_answer_loses_points(name, how):
    own = {**vars(multi_head), name: WRONG[name][how]}
    assert mark(LESSON, name, own).score < LESSON[name].points


@pytest.mark.parametrize("name, how", answers(RIGHT))
@pytest.mark.parametrize("seed", [None, "one", "two"])
def test_an_unusual_right_answer_gets_full_marks(name, how, seed):
    result = mark(LESSON, name, {**vars(multi_head), name: RIGHT[name][how]}, seed)
    assert result.passed, [part.found for part in result.parts]
