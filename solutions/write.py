"""Let a saved model write: python -m solutions.write model.safetensors "To be"

The model is a file from the notebook of lesson gpt, or GPT-2: a folder with its published files
(model.safetensors and merges.txt), or its name on the hub.
"""

import argparse
import codecs
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from solutions.generate import stream
from solutions.gpt import GPT
from solutions.gpt2_tokenizer import MARK, load_gpt2_tokenizer
from solutions.saved_model import SavedModel, open_model
from solutions.tokenizer import Tokenizer
from solutions.weights import load_gpt2


def write(
    model: GPT,
    tokenizer: Tokenizer,
    prompt: str = "",
    n: int = 300,
    seed: int = 0,
    temperature: float = 0.8,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Iterator[str]:
    """Continue a prompt by up to n tokens, and yield the text piece by piece as it is drawn.

    With no prompt the text begins after a line break. tokenizer: a Tokenizer or Characters. A
    character that is spread over several tokens is yielded with the last of them.
    """
    device = next(model.parameters()).device
    ids = torch.tensor([tokenizer.encode(prompt or "\n")], device=device)
    generator = torch.Generator(device).manual_seed(seed)
    end = tokenizer.specials.get(MARK)
    read = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    for new in stream(model, ids, n, generator, temperature, top_k, top_p, end):
        if int(new) == end:
            break
        yield read(tokenizer.decode_bytes([int(new)]))
    yield read(b"", final=True)


def open_any(source: str) -> SavedModel:
    """Open a model by its file, or GPT-2 by its folder or its name on the hub."""
    if Path(source).suffix == ".safetensors" and not Path(source).with_name("merges.txt").exists():
        return open_model(source)
    tokenizer = load_gpt2_tokenizer(source)  # first: it is the smaller file
    return SavedModel(load_gpt2(source), tokenizer)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m solutions.write", description=__doc__)
    parser.add_argument("model")
    parser.add_argument("prompt", nargs="?", default="")
    parser.add_argument("-n", "--tokens", type=int, default=300)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-k", type=int)
    parser.add_argument("--top-p", type=float)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    try:
        found = open_any(given.model)
        how = (given.seed, given.temperature, given.top_k, given.top_p)
        print(given.prompt, end="", flush=True)
        for piece in write(found.model, found.tokenizer, given.prompt, given.tokens, *how):
            print(piece, end="", flush=True)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass  # enough
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
