"""gpt: Tiny Shakespeare in pieces from our byte pair encoding, judged in bits per character."""

import math
from dataclasses import replace

import torch

from solutions.data.tiny_shakespeare import text
from solutions.gpt import GPT, next_token_loss
from solutions.studies.shakespeare_recipes import LATER
from solutions.studies.text_windows import validation_loss, windows
from solutions.tokenizer import Tokenizer
from solutions.train import train

RUNS = []  # they are listed in gpt.py


def pieces(n_vocab: int, steps: int) -> dict[str, float]:
    """Train the later recipe on pieces; return nats a piece, characters a piece, bits a character.

    Pieces are learned from the training text alone, the first nine tenths.
    """
    whole = text()
    cut = int(0.9 * len(whole))
    tokenizer = Tokenizer.train(whole[:cut], n_vocab)
    training, held_out = (
        torch.tensor(tokenizer.encode(part)) for part in (whole[:cut], whole[cut:])
    )
    config, recipe = LATER
    config = replace(config, vocab_size=tokenizer.n_vocab)
    torch.manual_seed(0)
    model = GPT(config)
    train(
        model,
        windows(training, config.block_size),
        replace(recipe, steps=steps, evaluate_every=0),
        lambda model, batch: next_token_loss(model, batch[0]),
        progress=False,
    )
    nats = validation_loss(model, next_token_loss, held_out, config.block_size, batches=100)
    length = (len(whole) - cut) / len(held_out)
    return {"nats": nats, "characters": length, "bits": nats / length / math.log(2)}
