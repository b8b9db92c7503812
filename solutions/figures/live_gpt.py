"""The figure of the storyteller: a trained GPT that reads and writes inside the page."""

from pathlib import Path

import torch
from matplotlib.figure import Figure as Plot

from solutions.data.tiny_tales import IDS, START, WORDS, next_word_odds
from solutions.figures.figure import Figure
from solutions.figures.tales_script import address, rounded_storyteller, tales_script
from solutions.gpt import GPT
from solutions.multi_head import split_heads
from solutions.queries_keys_values import causal_mask

HERO = (
    "once tom the badger lived by the lake . mia the toad lived there too . one night tom found a"
)
GIFT = f"{HERO} red kite and felt proud . he gave the red kite to mia . then tom danced by the"
BEGINNINGS = {
    "place": GIFT,
    "owner": f"{GIFT} lake . so the red kite belongs to",
    "mood": f"{GIFT} lake . so the red kite belongs to mia . it all ended with a",
    "colour": HERO,
    "friend": "once zoe the fox lived by the tower .",
}


def live_gpt(begin: str = "place", small: bool = False, inside: bool = False) -> Figure:
    """Show the storyteller after one of BEGINNINGS; what follows is the reader's and the model's.

    small: without sliders and attention.  inside: with the weights in the output itself, for a
    notebook; else a page of the book fetches them when they are first needed.
    """
    model = rounded_storyteller()
    words = BEGINNINGS[begin].split()
    scores, attention = reading(model, words)
    looks = attention[:, :, -1].max(-1).values  # (L, H): how surely each head looks at one word
    texts = [BEGINNINGS[begin], *(text for key, text in BEGINNINGS.items() if key != begin), ""]
    data = {
        "words": WORDS,
        "script": {"address": address(), "text": tales_script() if inside else ""},
        "start": {
            "words": words,
            "scores": [round(s, 4) for s in scores.log_softmax(-1).tolist()],
            "odds": {"table": next_word_odds(words)[len(words)]},
            "attention": [] if small else torch.round(attention, decimals=3).flatten(2).tolist(),
        },
        "head": list(divmod(int(looks.argmax()), model.config.n_head)),
        "beginnings": texts,
        "n_layer": model.config.n_layer,
        "n_head": model.config.n_head,
        "block_size": model.config.block_size,
        "shown": 6 if small else 10,
        "small": small,
    }
    return Figure(
        Path(__file__).with_suffix(".js"),
        data=data,
        still=still_of(words, scores, data["start"]["odds"]["table"], data["shown"]),
        alt="A small GPT tells a story: its odds of the next word beside the grammar's own"
        + ("." if small else ", and the attention of each of its heads."),
        height=450 if small else 1330,
    )


@torch.no_grad()
def reading(model: GPT, words: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scores of the next word (V), and every head's weights (L, H, T, T)."""
    ids = torch.tensor([[IDS[START], *(IDS[word] for word in words)]])
    x, mask, maps = model.position(model.token(ids)), causal_mask(ids.size(1)), []
    for block in model.blocks:
        projected = block.attention.project(block.attention_norm(x)).chunk(3, dim=-1)
        q, k, _ = (split_heads(y, model.config.n_head) for y in projected)
        scores = q @ k.mT / q.size(-1) ** 0.5
        maps.append(scores.masked_fill(~mask, -torch.inf).softmax(-1)[0])
        x = block(x, mask)
    return model.head(model.norm(x))[0, -1], torch.stack(maps)


def still_of(words: list[str], scores: torch.Tensor, odds: dict[str, float], shown: int) -> Plot:
    """Draw the likeliest next words with both odds."""
    p = scores.softmax(-1).tolist()
    rank = sorted(WORDS, key=lambda word: -max(p[IDS[word]], odds.get(word, 0.0)))[:shown]
    plot = Plot(figsize=(7, 0.32 * shown + 1), layout="constrained")
    axes = plot.subplots()
    rows = range(shown)
    axes.barh([y - 0.2 for y in rows], [p[IDS[w]] for w in rank], 0.36, label="the model")
    true = [odds.get(w, 0.0) for w in rank]
    axes.barh(
        [y + 0.2 for y in rows],
        true,
        0.36,
        label="the grammar",
        hatch="///",
        facecolor="none",
        edgecolor="black",
    )
    axes.set_yticks(rows, rank)
    axes.invert_yaxis()
    axes.set_xlabel("probability of the next word")
    axes.set_title("... " + " ".join(words[-9:]) + " ...", fontsize=10, loc="left")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return plot
