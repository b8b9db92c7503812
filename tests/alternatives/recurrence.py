"""Other right answers to the exercises of recurrence: each must get full marks."""

import torch
import torch.nn.functional as F
from torch import nn

from solutions.recurrence import RNN, rnn_step


def rnn_step__stacked_weights(x, h, w_x, w_h, b):
    return torch.tanh(torch.cat([x, h], dim=-1) @ torch.cat([w_x, w_h]) + b)


def rnn_step__functional_linear(x, h, w_x, w_h, b):
    return (F.linear(x, w_x.T, b) + F.linear(h, w_h.T)).tanh()


def rnn_step__einsum_and_exponentials(x, h, w_x, w_h, b):
    z = torch.einsum("...c,cd->...d", x, w_x) + torch.einsum("...e,ed->...d", h, w_h) + b
    return 2 * torch.sigmoid(2 * z) - 1


def rnn_step__one_number_at_a_time(x, h, w_x, w_h, b):
    columns = [(x * w_x[:, j]).sum(-1) + (h * w_h[:, j]).sum(-1) + b[j] for j in range(b.numel())]
    return torch.tanh(torch.stack(columns, dim=-1))


def gru_step__six_matrices(x, h, w_x, w_h, b):
    d = h.size(-1)
    r, z, n = slice(0, d), slice(d, 2 * d), slice(2 * d, 3 * d)
    reset = torch.sigmoid(x @ w_x[:, r] + h @ w_h[:, r] + b[r])
    update = torch.sigmoid(x @ w_x[:, z] + h @ w_h[:, z] + b[z])
    new = torch.tanh(x @ w_x[:, n] + b[n] + reset * (h @ w_h[:, n]))
    return (1 - update) * new + update * h


def gru_step__torch_cell(x, h, w_x, w_h, b):
    cell_x, cell_h = x.reshape(-1, x.size(-1)), h.reshape(-1, h.size(-1))
    return torch.gru_cell(cell_x, cell_h, w_x.T, w_h.T, b, torch.zeros_like(b)).reshape(h.shape)


def gru_step__moved_towards_new(x, h, w_x, w_h, b):
    p = (x @ w_x + b).unflatten(-1, (3, -1))
    q = (h @ w_h).unflatten(-1, (3, -1))
    gates = torch.sigmoid(p[..., :2, :] + q[..., :2, :])
    new = torch.tanh(p[..., 2, :] + gates[..., 0, :] * q[..., 2, :])
    return torch.lerp(new, h, gates[..., 1, :])


class RNN__input_products_at_once(RNN):
    def forward(self, x, h=None):
        batch, length, _ = x.shape
        if h is None:
            h = torch.zeros(batch, self.w_h.size(0), dtype=x.dtype, device=x.device)
        products = x @ self.w_x + self.b  # (B, T, D): these do not wait for each other
        states = []
        for product in products.unbind(1):
            h = torch.tanh(product + h @ self.w_h)
            states.append(h)
        return torch.cat(states, dim=1).view(batch, length, -1)


class RNN__time_first_inside(RNN):
    def forward(self, x, h=None):
        state = torch.zeros_like(x[:, 0] @ self.w_x) if h is None else h
        out = []
        for x_t in x.transpose(0, 1):
            state = rnn_step(x_t, state, self.w_x, self.w_h, self.b)
            out += [state]
        return torch.stack(out).transpose(0, 1)


class RNN__recursive(RNN):
    def forward(self, x, h=None):
        h = x.new_zeros(len(x), self.b.numel()) if h is None else h
        h = rnn_step(x[:, 0], h, self.w_x, self.w_h, self.b)
        if x.size(1) == 1:
            return h[:, None]
        return torch.cat([h[:, None], self.forward(x[:, 1:], h)], dim=1)


class RNN__torch_layer(nn.Module):
    """The same parameters, read by PyTorch's own layer."""

    def __init__(self, n_in, n_state):
        super().__init__()
        self.w_x = nn.Parameter(torch.randn(n_in, n_state))
        self.w_h = nn.Parameter(torch.randn(n_state, n_state))
        self.b = nn.Parameter(torch.zeros(n_state))

    def forward(self, x, h=None):
        h = x.new_zeros(x.size(0), self.b.size(0)) if h is None else h
        flat = [self.w_x.T.contiguous(), self.w_h.T.contiguous(), self.b, torch.zeros_like(self.b)]
        return torch.rnn_tanh(x, h[None], flat, True, 1, 0.0, False, False, True)[0]


def gradient_by_lag__step_by_step(step, x, h, push):
    states = [h]
    with torch.no_grad():
        for t in range(len(x)):
            states.append(step(x[t], states[-1]))
    g, norms = push, [push.norm()]
    for t in range(len(x) - 1, -1, -1):  # one vector-Jacobian product per step, by hand
        before = states[t].clone().requires_grad_()
        (g,) = torch.autograd.grad(step(x[t], before), before, g)
        norms.append(g.norm())
    return torch.stack(norms) / norms[0]


def gradient_by_lag__retained_gradients(step, x, h, push):
    state = h.clone().requires_grad_()
    states = [state]
    for t in range(x.size(0)):
        state = step(x[t], state)
        state.retain_grad()
        states.insert(0, state)
    states[0].backward(push)
    return torch.tensor([s.grad.pow(2).sum().sqrt() / push.norm() for s in states], dtype=h.dtype)


def gradient_by_lag__product_of_jacobians(step, x, h, push):
    jacobians = []
    for x_t in x:
        jacobians.append(torch.autograd.functional.jacobian(lambda s, x_t=x_t: step(x_t, s), h))
        h = step(x_t, h).detach()
    row, sizes = push, [push]
    for jacobian in reversed(jacobians):
        row = row @ jacobian
        sizes.append(row)
    return torch.stack(sizes).norm(dim=-1) / push.norm()


def gradient_by_lag__loss_written_out(step, x, h, push):
    states = [h.clone().requires_grad_(True)]
    for x_t in x:
        states.append(step(x_t, states[-1]))
    loss = (states[-1] * push).sum()
    grads = [torch.autograd.grad(loss, s, retain_graph=True)[0] for s in states]
    return torch.stack([torch.linalg.vector_norm(g) for g in grads]).flip(0) / push.norm()


def clip_gradient__norm_of_norms(gradients, longest):
    norm = torch.stack([g.norm() for g in gradients]).norm()
    if norm <= longest:
        return [g.clone() for g in gradients]
    return [g / norm * longest for g in gradients]


def clip_gradient__plain_numbers(gradients, longest):
    total = sum(float((g**2).sum()) for g in gradients) ** 0.5
    factor = longest / total if total > longest else 1.0
    return [factor * g for g in gradients]


def clip_gradient__torch_utility(gradients, longest):
    holders = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for holder, g in zip(holders, gradients, strict=True):
        holder.grad = g.clone()
    nn.utils.clip_grad_norm_(holders, longest)
    return [holder.grad for holder in holders]


def clip_gradient__divided_by_the_larger(gradients, longest):
    norm = torch.sqrt(sum(torch.sum(g * g) for g in gradients))
    return [g / torch.clamp(norm / longest, min=1.0) for g in gradients]
