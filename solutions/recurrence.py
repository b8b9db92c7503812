"""Recurrent networks: one step, used again at every token, and the gradient that goes back."""

from collections.abc import Callable

import torch
from torch import Tensor, nn


def rnn_step(x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Take one step of a plain recurrent network: tanh(x w_x + h w_h + b).

    x (..., C) the new input, h (..., D) the state so far, w_x (C, D), w_h (D, D),
    b (D) the only bias -> the next state (..., D). Vectors are rows: x @ w_x.

    >>> one, zero = torch.ones(1), torch.zeros(1)
    >>> rnn_step(one, zero, w_x=torch.tensor([[0.5]]), w_h=torch.eye(1), b=zero)
    tensor([0.4621])
    """
    return torch.tanh(x @ w_x + h @ w_h + b)


def gru_step(x: Tensor, h: Tensor, w_x: Tensor, w_h: Tensor, b: Tensor) -> Tensor:
    """Take one step of a gated recurrent unit: keep a part of the state, renew the rest.

    x (..., C), h (..., D), w_x (C, 3 D), w_h (D, 3 D), b (3 D)
    -> the next state (..., D). The columns hold three blocks of D, in the order
    reset, update, new. With p = x w_x + b and q = h w_h, both cut into these blocks:
        reset  = sigmoid(p_reset + q_reset)
        update = sigmoid(p_update + q_update)
        new    = tanh(p_new + reset * q_new)
        result = update * h + (1 - update) * new
    so `update` near 1 keeps the state; the bias of `new` stands outside the reset.

    >>> zero = torch.zeros(1, 3)
    >>> keep = torch.tensor([0.0, 9.0, 0.0])  # update near 1: the old state stays
    >>> gru_step(torch.ones(1), torch.tensor([0.7]), zero, zero, keep)
    tensor([0.6999])
    """
    p_reset, p_update, p_new = (x @ w_x + b).chunk(3, dim=-1)
    q_reset, q_update, q_new = (h @ w_h).chunk(3, dim=-1)
    reset = torch.sigmoid(p_reset + q_reset)
    update = torch.sigmoid(p_update + q_update)
    new = torch.tanh(p_new + reset * q_new)
    return update * h + (1 - update) * new


class RNN(nn.Module):
    """Read a sequence from left to right, one `rnn_step` per token."""

    def __init__(self, n_in: int, n_state: int):
        super().__init__()
        self.w_x = nn.Parameter(torch.randn(n_in, n_state) * n_in**-0.5)
        self.w_h = nn.Parameter(nn.init.orthogonal_(torch.empty(n_state, n_state)))
        self.b = nn.Parameter(torch.zeros(n_state))

    def forward(self, x: Tensor, h: Tensor | None = None) -> Tensor:
        """Return the state after every token.

        x (B, T, C), batch first; h (B, D) the state before the first token,
        zeros when it is None -> (B, T, D). The last state is the result's [:, -1].
        """
        if h is None:
            h = x.new_zeros(x.size(0), self.b.size(0))
        states = []
        for t in range(x.size(1)):
            h = rnn_step(x[:, t], h, self.w_x, self.w_h, self.b)
            states.append(h)
        return torch.stack(states, dim=1)


class RNNLanguageModel(nn.Module):
    """Predict every next token from a state that has read all tokens before it."""

    def __init__(self, n_vocab: int, n_embd: int, n_state: int):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, n_embd)
        self.rnn = RNN(n_embd, n_state)
        self.out = nn.Linear(n_state, n_vocab)

    def forward(self, ids: Tensor, h: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Score the next token after every token, and return the state to go on from.

        ids (B, T); h (B, D) the state before the first token, zeros when it is None
        -> scores (B, T, V), no softmax yet, and the state after the last token (B, D).
        """
        states = self.rnn(self.embed(ids), h)
        return self.out(states), states[:, -1]


def gradient_by_lag(
    step: Callable[[Tensor, Tensor], Tensor], x: Tensor, h: Tensor, push: Tensor
) -> Tensor:
    """Follow a gradient back through time: how much of it reaches each earlier state?

    Run h_t = step(x_t, h_{t-1}) over one sequence: x (T, C) holds x_1 to x_T, and
    h (D) is h_0. push (D), not all zero, is the gradient dL/dh_T at the last state
    -> (T + 1): entry k is |dL/dh_{T-k}| / |push|, with |.| the Euclidean norm.
    Entry 0 is 1, entry T belongs to h_0. dL/dh_t counts every way from h_t to h_T.

    >>> halve, x, h = lambda x, h: 0.5 * h + x, torch.zeros(3, 1), torch.ones(1)
    >>> gradient_by_lag(halve, x, h, push=torch.tensor([2.0]))
    tensor([1.0000, 0.5000, 0.2500, 0.1250])
    """
    states = [h.detach().requires_grad_()]
    for x_t in x:
        states.append(step(x_t, states[-1]))
    gradients = torch.autograd.grad(states[-1], states, push)
    return torch.stack([g.norm() for g in reversed(gradients)]) / push.norm()


def clip_gradient(gradients: list[Tensor], longest: float) -> list[Tensor]:
    """Shorten a gradient that is too long, and leave its direction alone.

    The gradient is all tensors of the list taken together as one long vector. Where
    its Euclidean norm is above `longest` (> 0), multiply every tensor by
    longest / norm; otherwise change nothing
    -> a list of new tensors; the given ones stay as they are.

    >>> clip_gradient([torch.tensor([3.0]), torch.tensor([[4.0]])], longest=1.0)
    [tensor([0.6000]), tensor([[0.8000]])]
    """
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    scale = (longest / norm).clamp(max=1.0)
    return [g * scale for g in gradients]
