"""Draw the inputs of a case: the same seed gives the same sizes and numbers on every machine."""

import hashlib
import random
from typing import Any

import torch
from torch import Tensor


class Draw:
    """Inputs for one case: the same seed gives the same sizes and numbers on every machine."""

    def __init__(self, *seed: Any):
        digest = hashlib.sha256(repr(seed).encode()).digest()
        self.random = random.Random(digest)
        self.generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))

    def sizes(self, n: int, low: int = 2, high: int = 7) -> list[int]:
        """Return n different sizes, so that no axis can be mistaken for another."""
        return self.random.sample(range(low, high + 1), n)

    def normal(self, *shape: int, std: float = 1.5, dtype: torch.dtype = torch.float32) -> Tensor:
        return (torch.randn(shape, generator=self.generator, dtype=torch.float64) * std).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def rows(self, *shape: int) -> Tensor:
        """Return positive rows that sum to one."""
        return self.normal(*shape).softmax(-1)

    def weights(self, module: torch.nn.Module, std: float) -> dict[str, Tensor]:
        """Return numbers for everything that a module keeps, gains and biases too."""
        return {k: self.normal(*v.shape, std=std) for k, v in module.state_dict().items()}

    def mask(self, *shape: int) -> Tensor:
        """Return a mask that is True in about two places of three, at least once in each row."""
        mask = torch.rand(*shape, generator=self.generator) < 0.67
        keep = self.integers(0, shape[-1], *shape[:-1])
        return mask.scatter(-1, keep.unsqueeze(-1), True)


def args(*positional: Any, **keywords: Any) -> tuple:
    """Inputs for the probe `call`."""
    return positional, keywords


def built(config: dict, weights: dict, *positional: Any, **keywords: Any) -> tuple:
    """Inputs for the probe `module`."""
    return config, weights, positional, keywords
