"""Train our ViTs and Hugging Face's of the same size in turns, and compare images per second."""

import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

from solutions.fast_vit import FastViT
from solutions.fused import fuse
from solutions.vit import ViT

IMAGE, PATCH, CHANNELS, CLASSES = (32, 32), 4, 3, 10
WIDTH, LAYERS, HEADS, HIDDEN = 96, 4, 4, 384
SIZES = (IMAGE, PATCH, CHANNELS, CLASSES, WIDTH, LAYERS, HEADS, HIDDEN)
BATCH = 32


def figures(steps: int = 12) -> dict[str, float]:
    """Return images per second of each, and ratios to theirs: they take their steps in turns.

    "ours" is the model that trains. Beside it stand the model of the lesson, layer by layer, and
    the same on fused kernels alone: they say what the kernels bring, and what is brought by
    sparing the last block the tokens that nobody reads (theirs computes them all).
    A step is forward, backward and AdamW on 32 images of 32 x 32 pixels in 64 patches. The median
    over the steps is taken, in CPU seconds of one thread, so that a busy machine hits all alike.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        torch.manual_seed(0)
        images, labels = torch.randn(BATCH, CHANNELS, *IMAGE), torch.randint(CLASSES, (BATCH,))
        models = {
            "ours": FastViT(*SIZES),
            "lesson": ViT(*SIZES),
            "kernels": fuse(ViT(*SIZES)),
            "transformers": theirs(),
        }
        take = {name: stepper(model, images, labels) for name, model in models.items()}
        spent: dict[str, list[float]] = {name: [] for name in models}
        for round_ in range(steps + 2):
            for name, step in take.items():
                start = time.process_time()
                step()
                if round_ >= 2:  # the first steps fill caches
                    spent[name].append(time.process_time() - start)
    finally:
        torch.set_num_threads(threads)
    rate = {name: BATCH / statistics.median(some) for name, some in spent.items()}
    sizes = {name: sum(p.numel() for p in m.parameters()) for name, m in models.items()}
    return {
        "vit.parameters": sizes["ours"],
        "vit.parameters_transformers": sizes["transformers"],
        "vit.images_per_second": rate["ours"],
        "vit.images_per_second_transformers": rate["transformers"],
        "vit.ratio_transformers": rate["ours"] / rate["transformers"],
        "vit.ratio_kernels_alone": rate["kernels"] / rate["transformers"],
        "vit.ratio_lesson": rate["lesson"] / rate["transformers"],
    }


def theirs() -> nn.Module:
    """Build `transformers`' classifier: the same blocks, and a linear map on the class token."""
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(
        image_size=IMAGE[0],
        patch_size=PATCH,
        num_channels=CHANNELS,
        num_labels=CLASSES,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=HIDDEN,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return ViTForImageClassification(config)


def stepper(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> Callable[[], None]:
    """Return a function that takes one training step."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    model.train()

    def step() -> None:
        seen = model(images)
        loss = F.cross_entropy(getattr(seen, "logits", seen), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{value:12.2f}  {name}")
