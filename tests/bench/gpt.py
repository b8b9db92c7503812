"""Measure our GPT beside `transformers`' of the same size, and attention as texts grow longer.

Everything is measured in turns within one process and one thread, so that a busy moment of the
machine hits both sides; times are CPU seconds.
"""

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from solutions.gpt import GPT, next_token_loss
from solutions.gpt_block import GPTConfig
from solutions.queries_keys_values import causal_mask, scaled_dot_product_attention

BATCH, BLOCK, VOCAB = 12, 64, 65  # nanoGPT's recipe for a CPU: 4 layers, 4 heads, width 128
ROUNDS, SETTLE = 60, 3
LENGTHS = (64, 128, 256, 512, 1024)


def figures() -> dict[str, float]:
    """Return everything `make bench` wants to know, under `gpt.` and `attention.`."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return training_speed() | attention_growth()
    finally:
        torch.set_num_threads(threads)


def training_speed() -> dict[str, float]:
    """Train ours and theirs step by step in turns: tokens a second, and the ratios.

    Each model computes its loss as its own code does; clipping and optimiser are the same.
    """
    models = {
        "ours": GPT(GPTConfig(VOCAB, BLOCK)),  # exact GELU, as nanoGPT has it
        "ours_tanh": GPT(GPTConfig(VOCAB, BLOCK, activation="gelu_tanh")),
        "transformers": theirs("gelu_new"),  # GPT-2 as it is shipped
        "transformers_gelu": theirs("gelu"),
    }
    step = {}
    for name, model in models.items():
        loss = their_loss if name.startswith("transformers") else next_token_loss
        step[name] = stepper(model, loss)
    spent: dict[str, list[float]] = {name: [] for name in models}
    generator = torch.Generator().manual_seed(0)
    for _ in range(ROUNDS):
        ids = torch.randint(VOCAB, (BATCH, BLOCK + 1), generator=generator)
        for name in models:
            start = time.process_time()
            step[name](ids)
            spent[name].append(time.process_time() - start)
    typical = {name: statistics.median(times[SETTLE:]) for name, times in spent.items()}
    rates = {f"gpt.tokens_per_second_{n}": BATCH * BLOCK / t for n, t in typical.items()}
    return rates | {
        "gpt.ratio_transformers": typical["transformers"] / typical["ours"],
        "gpt.ratio_transformers_same_function": typical["transformers"] / typical["ours_tanh"],
        "gpt.ratio_transformers_gelu": typical["transformers_gelu"] / typical["ours"],
    }


def theirs(activation: str) -> nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": VOCAB, "n_positions": BLOCK, "n_embd": 128, "n_layer": 4, "n_head": 4}
    off = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    marks = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(**sizes, **off, **marks, activation_function=activation)
    return GPT2LMHeadModel(config).train()


def their_loss(model: nn.Module, ids: Tensor) -> Tensor:
    """Let the model of `transformers` compute its loss; it shifts the labels itself."""
    read = ids[:, :-1]  # as many tokens as ours reads
    return model(read, labels=read, use_cache=False).loss


def stepper(
    model: nn.Module, loss: Callable[[nn.Module, Tensor], Tensor]
) -> Callable[[Tensor], None]:
    """Return one step of training, with the same clipping and optimiser for every model."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step(ids: Tensor) -> None:
        found = loss(model, ids)
        optimiser.zero_grad()
        found.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    return step


def attention_growth() -> dict[str, float]:
    """Time forward and backward of both attentions, and count the bytes they hold in between."""
    found = {}
    for length in LENGTHS:
        mask = causal_mask(length)
        attentions = {
            "ours": lambda q, k, v, mask=mask: scaled_dot_product_attention(q, k, v, mask),
            "pytorch": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        }
        spent: dict[str, list[float]] = {name: [] for name in attentions}
        for _ in range(max(3, 2048 // length)):
            for name, attention in attentions.items():
                start = time.process_time()
                backward_too(attention, length)
                spent[name].append(time.process_time() - start)
        for name, attention in attentions.items():
            found[f"attention.ms_{name}_{length}"] = 1000 * statistics.median(spent[name])
            found[f"attention.mb_{name}_{length}"] = peak_bytes(attention, length) / 1e6
    longest = LENGTHS[-1]
    for unit in ("ms", "mb"):
        ours, pytorch = (found[f"attention.{unit}_{n}_{longest}"] for n in ("ours", "pytorch"))
        found[f"attention.ratio_{unit}_{longest}"] = ours / pytorch
    return found


def backward_too(attention: Callable, length: int) -> None:
    q, k, v = (torch.randn(1, 4, length, 32, requires_grad=True) for _ in range(3))
    attention(q, k, v).sum().backward()


def peak_bytes(attention: Callable, length: int) -> int:
    """Follow every allocation of one forward and backward; return the most held at once."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        backward_too(attention, length)
    held = most = 0
    events = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    for event in sorted(events, key=lambda e: e.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:>48} {value:12.3f}")
