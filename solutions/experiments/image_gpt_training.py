"""image_gpt: the one training of the lesson, on handwritten digits in four grey levels."""

import time

import torch
from torch import Tensor

from solutions.data.digits import split_digits
from solutions.gpt_block import GPTConfig
from solutions.image_gpt import ImageGPT
from solutions.palette import fit_palette, quantise
from solutions.train import Recipe, train

RUNS = []  # they are listed in image_gpt.py
N_COLOUR = 4
CONFIG = GPTConfig(N_COLOUR + 1, 64, n_layer=3, n_head=4, n_embd=48, dropout=0.1, std=0.08)


def digit_palette() -> Tensor:
    """Fit the grey levels (4, 1) to the pixels of the training images."""
    pixels = split_digits()[0][0].reshape(-1, 1)
    return fit_palette(pixels, torch.linspace(0, 1, N_COLOUR).unsqueeze(-1))


def digit_tokens() -> tuple[Tensor, Tensor]:
    """Return the training and the test images (N, 8, 8) as numbers of grey levels."""
    palette = digit_palette()
    return tuple(quantise(images.movedim(1, -1), palette) for images, _ in split_digits())


def pretrain(steps: int, seed: int) -> dict:
    """Train on pixels alone, no labels; return bits per pixel as it learns, and the weights."""
    known, unseen = digit_tokens()

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor]:
        return (known[torch.randint(len(known), (n,), generator=generator)],)

    def evaluate(model: ImageGPT) -> dict[str, float]:
        return {
            "test": model.bits(unseen).mean().item(),
            "train": model.bits(known[: len(unseen)]).mean().item(),
        }

    torch.manual_seed(seed)
    model, start = ImageGPT(CONFIG), time.process_time()
    for block in model.gpt.blocks:
        block.attention.dropout = 0.0  # with it the fused kernel is not used: twice the time
    decay, every = 0.1, steps // 5
    recipe = Recipe(steps, 16, 3e-3, min(100, steps // 4), decay, seed=seed, evaluate_every=every)
    history = train(
        model,
        draw,
        recipe,
        lambda model, batch: model.bits(batch[0]).mean(),
        evaluate,
        progress=False,
    )
    return {
        "loss": torch.tensor(history.loss),
        "scores": history.scores,
        "seconds": time.process_time() - start,
        "weights": model.state_dict(),
    }
