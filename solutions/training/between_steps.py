"""Let Ctrl-C fall between two steps of a training, wherever it comes: no step is half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def held_back() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done: the block is run whole or not at all."""
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield  # Ctrl-C raises nothing here
        return
    came = []
    signal.signal(signal.SIGINT, lambda *given: came.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        usual(*came[0])


class Moment:
    """Note what a step changes before its update, and put it back if the update never comes.

    These are the dice (of the batches, of dropout, of the GPU) and a model's running averages.
    """

    def __init__(self, model: nn.Module, generator: torch.Generator):
        self.model, self.generator = model, generator
        self.device = next(model.parameters()).device
        self.gpu = None if self.device.type == "cpu" else torch.get_device_module(self.device)
        self.note()

    def note(self) -> None:
        self.averages = [x.clone() for x in self.model.buffers()]
        self.dice = {"batches": self.generator.get_state(), "dropout": torch.get_rng_state()}
        if self.gpu is not None:
            self.dice["gpu"] = self.gpu.get_rng_state(self.device)

    def start_from(self, dice: dict[str, Tensor]) -> None:
        """Set the dice to where an earlier session noted them; the model is where it was."""
        self.note()
        self.dice = dice
        self.put_back()

    def put_back(self) -> None:
        for now, noted in zip(self.model.buffers(), self.averages, strict=True):
            if not torch.equal(now, noted):
                now.copy_(noted)
        self.generator.set_state(self.dice["batches"])
        torch.set_rng_state(self.dice["dropout"])
        if self.gpu is not None and "gpu" in self.dice:  # that session may have had none
            self.gpu.set_rng_state(self.dice["gpu"], self.device)
