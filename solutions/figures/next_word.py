"""The figure of the next word: what a GPT expects beside what the grammar knows, word by word."""

import math
from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot
from torch import nn

from solutions.data.tiny_tales import END, IDS, LENGTH, WORDS, draw_story, next_word_odds, story_ids
from solutions.figures.figure import Figure

SHOWN = 8  # candidates of the grammar at a place


def next_word(models: dict[str, nn.Module], n_stories: int = 4, seed: int = 11) -> Figure:
    """Show trained models at every place of a few stories, the first of them to begin with."""
    generator = torch.Generator().manual_seed(seed)
    stories = [story_data(draw_story(generator)[0], models) for _ in range(n_stories)]
    data = {"models": list(models), "stories": stories}
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(data),
        alt="A story with the divergence of the model's odds from the grammar's under every word.",
        height=460,
    )


@torch.no_grad()
def model_odds(model: nn.Module, words: list[str]) -> list[list[float]]:
    """Return the model's probability of every word of the vocabulary at every place of a story."""
    ids = torch.tensor([story_ids(words, LENGTH)])[:, : len(words) + 1]
    return model(ids)[0].softmax(-1).tolist()


def divergence(odds: dict[str, float], guess: list[float]) -> float:
    """Return the nats lost by expecting `guess` where `odds` are true: their KL divergence."""
    return sum(p * math.log(p / guess[IDS[word]]) for word, p in odds.items())


def story_data(words: list[str], models: dict[str, nn.Module]) -> dict:
    """Collect, for every place, the likeliest words with both odds, and the divergences."""
    exact = next_word_odds(words)
    guesses = [model_odds(model, words) for model in models.values()]
    places = []
    for place, odds in enumerate(exact):
        here = [guess[place] for guess in guesses]
        by_models = [max(guess[i] for guess in here) for i in range(len(WORDS))]
        rank = sorted(WORDS, key=lambda w: -(odds.get(w, 0.0) + by_models[IDS[w]] / 1000))
        wrong = max(WORDS, key=lambda w: -1.0 if w in odds else by_models[IDS[w]])
        names = [w for w in rank if w in odds][:SHOWN]
        names += [wrong] if by_models[IDS[wrong]] > 0.005 else []
        candidates = [
            [w, round(odds.get(w, 0.0), 4), *(round(guess[IDS[w]], 4) for guess in here)]
            for w in names
        ]
        divergences = [round(divergence(odds, guess), 4) for guess in here]
        places.append({"candidates": candidates, "kl": divergences, "choices": len(odds)})
    return {"words": [*words, END], "places": places}


def still_of(data: dict) -> Plot:
    """Draw the divergence at every word of the first story, for all models."""
    story = data["stories"][0]
    plot = Plot(figsize=(9, 2.6), layout="constrained")
    axes = plot.subplots()
    places = range(len(story["words"]))
    for i, (name, marker) in enumerate(zip(data["models"], "os^", strict=False)):
        heights = [max(place["kl"][i], 1e-5) for place in story["places"]]
        axes.plot(places, heights, marker, markersize=4, label=name)
    axes.set_yscale("log")
    axes.set_xticks(places, story["words"], rotation=90, fontsize=7)
    axes.set_ylabel("nats lost at the word")
    axes.legend(fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return plot
