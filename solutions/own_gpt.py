"""A GPT on a text of one's own: sizes, recipe, ids and what may be expected of the run."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from solutions.characters import Characters
from solutions.data import tiny_shakespeare
from solutions.data.tiny_tales import draw_story
from solutions.gpt import GPT, n_parameters, next_token_loss
from solutions.gpt_block import GPTConfig
from solutions.keeping import kept
from solutions.saved_model import SavedModel, open_model
from solutions.studies.shakespeare_recipes import GPU, LATER
from solutions.studies.text_windows import split, windows
from solutions.tokenizer import Tokenizer
from solutions.train import Recipe, train
from solutions.training.forecast import T4, Forecast, gpt_operations
from solutions.training.live_curve import clock

STEPS = 400  # of the small recipe: under a minute on most CPUs
PIECES = 512  # the vocabulary of byte pairs
# validation losses of the small recipe on Shakespeare as measured for the book, nats per token
MEASURED = {"characters": 1.98, "byte pairs": 3.38}
# nanoGPT's documentation, for its run of the large recipe's size on Shakespeare by characters
PUBLISHED = 1.4697
DIFFERENCES = (
    "nanoGPT's published run of this size;\n  ours has biases, which nanoGPT's has not, its "
    "learning rate falls to 0 in place of 0.0001,\n  and a T4 computes in float16"
)


@dataclass
class Plan:
    """All that a training needs to begin."""

    config: GPTConfig
    recipe: Recipe
    tokenizer: Tokenizer | Characters
    training: Tensor  # the ids of the first nine tenths
    held_out: Tensor
    name: str  # of the text and its tokens: short, and another for every other text
    known: tuple[float, str] | None  # the loss of such a run, and where it was measured

    def batches(self, n: int, generator: torch.Generator) -> tuple[Tensor]:
        """Draw windows of the training text: ((n, T + 1),)."""
        return windows(self.training, self.config.block_size)(n, generator)

    def expect(self, forecast: Forecast) -> Forecast:
        """Add the loss of a known run, where there is one."""
        if self.known is None:
            return forecast
        return replace(forecast, loss=self.known[0], source=self.known[1])

    def neighbours_loss(self) -> float:
        """Measure what counting pairs of neighbours would reach: nats per token, held out."""
        v = self.config.vocab_size
        pairs = self.training[:-1] * v + self.training[1:]
        counts = torch.bincount(pairs, minlength=v * v).view(v, v) + 0.1  # never seen: not never
        odds = (counts / counts.sum(1, keepdim=True)).log()
        return -float(odds[self.held_out[:-1], self.held_out[1:]].mean())


def make_plan(text: str, by: str = "characters", large: bool = False) -> Plan:
    """Choose sizes and recipe for a text, and turn it into ids.

    by: "characters" or "byte pairs", learned from the training part alone. large: the recipe for a
    GPU, 10.8 million parameters; else 0.8 million and a few hundred steps.
    """
    if by not in MEASURED:
        raise ValueError(f'make_plan: by is {by!r}; choose "characters" or "byte pairs".')
    config, recipe = GPU if large else LATER
    if not large:
        recipe = replace(recipe, steps=STEPS, evaluate_every=STEPS // 4, lowest="validation")
    cut = int(0.9 * len(text))
    if by == "characters":
        tokenizer = Characters.of(text)
        training, held_out = split(torch.tensor(tokenizer.encode(text)))
    else:
        tokenizer = Tokenizer.train(text[:cut], PIECES)
        training, held_out = (torch.tensor(tokenizer.encode(x)) for x in (text[:cut], text[cut:]))
    config = replace(config, vocab_size=tokenizer.n_vocab)
    name = hashlib.sha256(f"{by} {large} {text}".encode()).hexdigest()[:8]
    known = known_loss(text, by, large)
    return Plan(config, recipe, tokenizer, training, held_out, name, known)


def known_loss(text: str, by: str, large: bool) -> tuple[float, str] | None:
    """Return the validation loss of such a run and where it is from, where there has been one."""
    if text != tiny_shakespeare.text():
        return None
    if not large:
        return MEASURED[by], "this recipe, measured for the book"
    return (PUBLISHED, DIFFERENCES) if by == "characters" else None


def large_on_a_t4(text: str, by: str, n_vocab: int) -> str:
    """Say what the large recipe takes on a T4, the GPU that Colab lends: by arithmetic alone."""
    config, recipe = replace(GPU[0], vocab_size=n_vocab), GPU[1]
    tokens = recipe.steps * recipe.batch * config.block_size
    used = n_parameters(config) - config.block_size * config.n_embd  # positions are only added
    total = gpt_operations(used, config.n_layer, config.n_embd, config.block_size, tokens)
    known = known_loss(text, by, large=True)
    loss = f"a validation loss of {known[0]:.2f} ({known[1]})" if known else "no loss known"
    return (
        f"the large recipe on a T4: at least {clock(total / T4)}, computed, not measured "
        f"({total:.1e} operations\n  at the card's published {T4:.1e} per second, which no program "
        f"reaches);\n  {loss}"
    )


def my_model(path: Path | str = "my_gpt.safetensors") -> SavedModel:
    """Open the model trained in the notebook of lesson gpt; with no such file, train a small one.

    The small one learns tiny tales by characters, for some seconds.
    """
    if kept(path).exists():
        found = open_model(path)
        print(f"{path}: {found.card.get('text', 'a model of yours')}")
        return found
    print(f"There is no {path} here (the notebook of lesson gpt writes it): training a small one.")
    return storyteller()


def storyteller(steps: int = 250) -> SavedModel:
    """Train a small GPT on tiny tales by characters."""
    generator = torch.Generator().manual_seed(0)
    text = "\n".join(" ".join(draw_story(generator)[0]) for _ in range(1500)) + "\n"
    tokenizer = Characters.of(text)
    ids = torch.tensor(tokenizer.encode(text))
    torch.manual_seed(0)
    config = GPTConfig(tokenizer.n_vocab, 64, n_layer=2, n_head=4, n_embd=64, std=0.08)
    model = GPT(replace(config, positions="rotary", norm="rms"))
    recipe = Recipe(steps, 24, lr=1e-2, warmup=20, weight_decay=0.01)
    history = train(
        model,
        windows(ids, config.block_size),
        recipe,
        lambda model, batch: next_token_loss(model, batch[0]),
        progress=False,
    )
    card = {"text": "tiny tales by characters", "begin": "\nonce ", "loss": history.loss[-1]}
    return SavedModel(model, tokenizer, card)
