"""bert: pre-training on stories, then 50 labels: with it, without it, and simpler methods."""

from dataclasses import replace

import torch
from torch import Tensor

from solutions.bert import BERT, IGNORE, MaskedLanguageModel, mask_tokens
from solutions.data.themes import (
    MASK,
    MOOD,
    SPECIAL,
    TAGS,
    Text,
    draw_sentences,
    draw_stories,
    draw_tagged,
    encode,
    ids_of,
    tag,
    vocabulary,
)
from solutions.experiments import kept
from solutions.fine_tune import TextClassifier, TokenClassifier
from solutions.studies.side_by_side import SideBySide
from solutions.studies.text_baselines import bag_of_words, company, counts, neighbours
from solutions.train import Recipe, train

SEEDS = (0, 1, 2)
CUES = (1, 2)
N_LABEL, N_TEST = 50, 1000
SIZE = {"block_size": 48, "n_embd": 64, "n_head": 4, "n_layer": 2, "n_hidden": 128, "dropout": 0.0}
RECIPE = Recipe(steps=900, batch=16, lr=5e-3, warmup=50, weight_decay=0.01)
N_STORY = 20_000
SHARE = 0.4  # how much is hidden: a small model in a hurry learns from every word it is asked for
TASKS = [("theme", n_cue) for n_cue in CUES] + [("mood", 3), ("tag", 1)]
STARTS = ("scratch", "pre-trained")
RATES = (1e-3, 3e-3)
GENTLE = 3e-4  # tried where pre-training hurts: does it help to change less?


def new_bert() -> BERT:
    """Build the encoder of this lesson, untrained, for the stories' vocabulary."""
    return BERT(len(vocabulary()), **SIZE)


def corrupted(ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Hide a share of the tokens of a batch."""
    draws = torch.rand(3, *ids.shape, generator=generator)
    return mask_tokens(ids, draws, len(vocabulary()), len(SPECIAL), MASK, SHARE)


def pretrain(steps: int, seed: int) -> dict:
    """Fill gaps in stories without any label; return the parameters and the losses."""
    stories = encode([story.words for story in draw_stories(N_STORY, seed=100 + seed)])

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return corrupted(stories[torch.randint(N_STORY, (n,), generator=generator)], generator)

    torch.manual_seed(seed)
    model = MaskedLanguageModel(new_bert())
    recipe = replace(RECIPE, steps=steps, seed=seed)
    history = train(model, draw, recipe, lambda m, batch: m.loss(*batch), progress=False)
    return {"state": model.state_dict(), "loss": torch.tensor(history.loss)}


def pretrained() -> MaskedLanguageModel:
    """Load the pre-trained model, ready to be asked."""
    model = MaskedLanguageModel(new_bert())
    model.load_state_dict(kept(pretrain, steps=RECIPE.steps, seed=0)["state"])
    return model.eval()


def labelled(task: str, n_cue: int, n: int, seed: int) -> tuple[list[Text], Tensor, Tensor]:
    """Draw texts for a task: the texts, their ids (n, T) and the labels (n,) or (n, T)."""
    if task == "tag":
        texts, places = draw_tagged(n, seed)
        ids = encode([text.words for text in texts])
        labels = torch.full_like(ids, IGNORE)
        for row, (text, place) in enumerate(zip(texts, places, strict=True)):
            labels[row, place + 1] = tag(text, place)  # [CLS] stands in front
        return texts, ids, labels
    texts = draw_stories(n, seed) if task == "mood" else draw_sentences(n, seed, n_cue)
    answers = torch.tensor([text.mood if task == "mood" else text.theme for text in texts])
    return texts, encode([text.words for text in texts]), answers


def fine_tune(task: str, n_cue: int, start: str, rate: float) -> list[float]:
    """Train a head and BERT on 50 labels; return the share of right test answers per seed."""
    sets, models = [labelled(task, n_cue, N_LABEL, seed=1000 + seed)[1:] for seed in SEEDS], []
    for seed in SEEDS:
        torch.manual_seed(seed)
        bert = new_bert()
        if start == "pre-trained":
            bert.load_state_dict(pretrained().bert.state_dict())
        if task == "tag":
            models.append(TokenClassifier(bert, len(TAGS)))
        else:
            models.append(TextClassifier(bert, 2, pooling="mean"))
    together = SideBySide(models)

    def draw(n: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        at = torch.randint(N_LABEL, (len(SEEDS), n), generator=generator)
        return tuple(
            torch.stack([x[rows] for x, rows in zip(xs, at, strict=True)])
            for xs in zip(*sets, strict=True)
        )

    train(together, draw, Recipe(steps=100, batch=16, lr=rate, warmup=10), progress=False)
    return right(together, *labelled(task, n_cue, N_TEST, seed=7)[1:])


@torch.no_grad()
def right(together: SideBySide, ids: Tensor, labels: Tensor) -> list[float]:
    """Return each model's share of right answers among the places that have a label."""
    together.eval()
    parts = ids.expand(len(SEEDS), -1, -1).split(200, dim=1)
    answers = torch.cat([together(part).argmax(-1) for part in parts], dim=1)
    asked = labels != IGNORE
    return (answers == labels)[:, asked].float().mean(1).tolist()


def baseline(task: str, n_cue: int) -> dict[str, list[float]]:
    """Let simple methods answer from the same 50 labels; return right shares per seed.

    "words" counts them all, "company" knows the company they keep in unlabelled stories; for the
    mood "told" counts only the words of mood, as one might who knew which words to look at.
    """
    n_vocab = len(vocabulary())
    _, test_ids, test_labels = labelled(task, n_cue, N_TEST, seed=7)
    stories = encode([story.words for story in draw_stories(4000, seed=100)])
    directions = company(counts(stories, n_vocab, len(SPECIAL)))
    found = {"words": [], "company": [], "told": []}
    for seed in SEEDS:
        _, ids, labels = labelled(task, n_cue, N_LABEL, seed=1000 + seed)
        sides = []
        for some_ids, some_labels in ((ids, labels), (test_ids, test_labels)):
            if task == "tag":
                places = (some_labels != IGNORE).long().argmax(-1).tolist()
                sides.append(neighbours(some_ids, places, n_vocab))
            else:
                sides.append(counts(some_ids, n_vocab, len(SPECIAL)))
        known, asked = (x[x != IGNORE] for x in (labels, test_labels))
        features = {"words": sides}
        if task != "tag":
            features["company"] = [side @ directions for side in sides]
        if task == "mood":
            telling = [ids_of()[w] for pair in MOOD.values() for words in pair for w in words]
            features["told"] = [side[:, telling] for side in sides]
        for name, (train_side, test_side) in features.items():
            answers = bag_of_words(train_side, known, test_side)
            found[name].append(float((answers == asked.numpy()).mean()))
    return found


RUNS = [
    (pretrain, {"steps": RECIPE.steps, "seed": 0}),
    *(
        # those that need no pre-training first: they fill the time until it is done
        (fine_tune, {"task": task, "n_cue": n_cue, "start": start, "rate": rate})
        for start in STARTS
        for task, n_cue in reversed(TASKS)
        for rate in RATES
    ),
    (fine_tune, {"task": "mood", "n_cue": 3, "start": "pre-trained", "rate": GENTLE}),
    *((baseline, {"task": task, "n_cue": n_cue}) for task, n_cue in TASKS),
]
