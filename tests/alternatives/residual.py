"""Other right answers to the exercises of residual: each must get full marks."""

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from solutions.residual import Residual


class FeedForward__hidden_state_by_state(nn.Module):
    def __init__(self, n_embd, n_hidden=None, activation=torch.relu):
        super().__init__()
        if n_hidden is None:
            n_hidden = n_embd * 4
        self.down = nn.Linear(n_hidden, n_embd)
        self.up = nn.Linear(n_embd, n_hidden)
        self.act = activation

    def forward(self, x):
        hidden = self.up(x)
        hidden = self.act(hidden)
        return self.down(hidden)


class FeedForward__token_by_token(nn.Module):
    def __init__(self, n_embd, n_hidden=None, activation=F.relu):
        super().__init__()
        self.n_embd = n_embd
        self.activation = activation
        self.up = nn.Linear(n_embd, n_hidden or 4 * n_embd)
        self.down = nn.Linear(n_hidden or 4 * n_embd, n_embd)

    def forward(self, x):
        tokens = x.reshape(-1, self.n_embd)
        said = [self.down(self.activation(self.up(token))) for token in tokens]
        return torch.stack(said).reshape(x.shape)


class FeedForward__matrices_by_hand(nn.Module):
    def __init__(self, n_embd, n_hidden=None, activation=None):
        super().__init__()
        wide = 4 * n_embd if n_hidden is None else n_hidden
        self.up, self.down = nn.Linear(n_embd, wide), nn.Linear(wide, n_embd)
        self.bend = activation if activation is not None else (lambda x: x.clamp(min=0))

    def forward(self, x):
        hidden = self.bend(x @ self.up.weight.T + self.up.bias)
        return torch.einsum("...h,ch->...c", hidden, self.down.weight) + self.down.bias


class Residual__answer_first(Residual):
    def forward(self, x, *args, **kwargs):
        said = self.f(x, *args, **kwargs)
        return said + x


class Residual__torch_add(Residual):
    def forward(self, x, *rest, **named):
        return torch.add(x, self.f(x, *rest, **named))


class Residual__on_a_clone_in_place(Residual):
    def forward(self, x, *args, **kwargs):
        out = x.clone()
        out += self.f(x, *args, **kwargs)
        return out


class Residual__keeps_f_in_a_list(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.both = [f, lambda x, *args, **kwargs: x]

    def forward(self, x, *args, **kwargs):
        return sum(g(x, *args, **kwargs) for g in self.both)


def gradient_by_depth__retained(layers, x, push):
    h = x.clone().detach().requires_grad_(True)
    states = [h]
    for layer in layers:
        h = layer(h)
        h.retain_grad()
        states.append(h)
    h.backward(push)
    lengths = torch.stack([torch.linalg.vector_norm(s.grad) for s in states])
    return lengths / push.norm()


def gradient_by_depth__layer_by_layer_backwards(layers, x, push):
    inputs = [x.detach()]
    for layer in layers:
        with torch.no_grad():
            inputs.append(layer(inputs[-1]))
    gradient, lengths = push, [push.norm()]
    for layer, h in zip(reversed(layers), reversed(inputs[:-1]), strict=True):
        _, gradient = torch.autograd.functional.vjp(layer, h, gradient)
        lengths.insert(0, gradient.norm())
    return torch.stack(lengths) / lengths[-1]


def gradient_by_depth__one_tail_at_a_time(layers, x, push):
    ratios = []
    h = x.detach().clone()
    for start in range(len(layers) + 1):
        leaf = h.detach().clone().requires_grad_()
        out = leaf
        for layer in layers[start:]:
            out = layer(out)
        (gradient,) = torch.autograd.grad((out * push).sum(), leaf)
        ratios.append(gradient.square().sum().sqrt() / push.square().sum().sqrt())
        if start < len(layers):
            h = layers[start](h)
    return torch.stack(ratios).detach()


def gradient_by_depth__through_hooks(layers, x, push):
    found = {}
    h = x.detach().clone().requires_grad_()
    h.register_hook(lambda g: found.__setitem__(0, g.norm()))
    for i, layer in enumerate(layers, 1):
        h = layer(h)
        h.register_hook(lambda g, i=i: found.__setitem__(i, g.norm()))
    (h * push).sum().backward()
    sizes = torch.tensor([float(found[i]) for i in range(len(layers) + 1)], dtype=x.dtype)
    return sizes / sizes[-1]


def filter_normalise__loop_over_filters(direction, weights):
    made = {}
    for name, d in direction.items():
        new = torch.zeros_like(d)
        if d.dim() > 1:
            for i in range(d.shape[0]):
                length = d[i].norm()
                if length > 0:
                    new[i] = d[i] * (weights[name][i].norm() / length)
        made[name] = new
    return made


def filter_normalise__norm_over_all_other_axes(direction, weights):
    def scaled(d, w):
        if d.ndim <= 1:
            return d * 0
        axes = tuple(range(1, d.ndim))
        own = d.square().sum(axes, keepdim=True).sqrt()
        return d / (own + 1e-10) * w.square().sum(axes, keepdim=True).sqrt()

    return {name: scaled(direction[name], weights[name]) for name in weights}


def filter_normalise__where(direction, weights):
    made = {}
    for name, d in direction.items():
        made[name] = torch.zeros(d.shape, dtype=d.dtype)
        if d.dim() >= 2:
            lengths = torch.stack([f.norm() for f in weights[name]])
            own = torch.stack([f.norm() for f in d])
            ratio = torch.where(own == 0, 0.0, lengths / own)
            made[name] = torch.einsum("f,f...->f...", ratio, d)
    return made


def loss_surface__moved_and_put_back(model, loss, first, second, places):
    home = {name: p.detach().clone() for name, p in model.named_parameters()}
    n = len(places)
    surface = torch.zeros(n, n, dtype=places.dtype)
    for i, j in itertools.product(range(n), range(n)):
        for name, p in model.named_parameters():
            p.data = home[name] + places[i] * first[name] + places[j] * second[name]
        surface[i, j] = loss(model).item()
    for name, p in model.named_parameters():
        p.data = home[name]
    return surface


def loss_surface__rows_of_state_dicts(model, loss, first, second, places):
    home = {k: v.clone() for k, v in model.state_dict().items()}

    def at(a, b):
        model.load_state_dict({k: v + a * first[k] + b * second[k] for k, v in home.items()})
        return loss(model).detach()

    rows = [torch.stack([at(a, b) for b in places]) for a in places]
    model.load_state_dict(home)
    return torch.stack(rows)


def loss_surface__step_by_step_in_place(model, loss, first, second, places):
    rows = []
    with torch.no_grad():
        for a in places.tolist():
            row = []
            for b in places.tolist():
                kept = [p.clone() for p in model.parameters()]
                for name, p in model.named_parameters():
                    p += a * first[name] + b * second[name]
                row.append(loss(model))
                for p, old in zip(model.parameters(), kept, strict=True):
                    p.copy_(old)
            rows.append(torch.stack(row))
    return torch.stack(rows)
