"""Train many small models of one shape at once: a tenth of the time of one after the other."""

import copy
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn import functional as F

from solutions.train import Recipe, rate_at


def train_together(
    models: Sequence[nn.Module],
    rates: Sequence[float],
    batches: Callable[[int, torch.Generator], tuple[Tensor, Tensor]],
    seeds: Sequence[int],
    recipe: Recipe,
) -> Tensor:
    """Fit N models of equal shape with Adam; return all their losses, (steps, N).

    Model n has its own highest learning rate, rates[n], and its own examples, drawn from seeds[n];
    warm-up, cosine and clipping are those of the recipe. The models themselves stay as they are.
    """
    shape = copy.deepcopy(models[0]).to("meta")
    names, parameters = zip(*shape.named_parameters(), strict=True)
    sizes = [p.numel() for p in parameters]
    vectors = torch.stack([nn.utils.parameters_to_vector(m.parameters()) for m in models]).detach()

    def loss(vector: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        parts = zip(names, parameters, vector.split(sizes), strict=True)
        weights = {name: part.view(p.shape) for name, p, part in parts}
        scores = functional_call(shape, weights, (inputs,))
        return F.cross_entropy(scores.flatten(0, -2), targets.flatten())

    step_of_all = vmap(grad_and_value(loss))
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    top = torch.tensor(rates).unsqueeze(-1) / recipe.lr  # (N, 1)
    first, second = torch.zeros_like(vectors), torch.zeros_like(vectors)  # Adam's two averages
    losses = []
    for step in range(recipe.steps):
        drawn = [batches(recipe.batch, generator) for generator in generators]
        inputs, targets = (torch.stack(tensors) for tensors in zip(*drawn, strict=True))
        gradients, values = step_of_all(vectors, inputs, targets)
        losses.append(values)
        if recipe.clip:
            gradients *= (recipe.clip / gradients.norm(dim=1, keepdim=True)).clamp(max=1)
        first.lerp_(gradients, 1 - 0.9)
        second.lerp_(gradients.square(), 1 - recipe.beta2)
        size = (second / (1 - recipe.beta2 ** (step + 1))).sqrt() + 1e-8
        rate = top * rate_at(step, recipe)  # (N, 1)
        vectors = vectors - rate * first / (1 - 0.9 ** (step + 1)) / size
    return torch.stack(losses)
