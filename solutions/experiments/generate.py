"""generate: stories drawn in several ways and judged by the grammar; wide beams; the cache's gain.

All with the storyteller that lesson gpt trained, except the cache, which wants longer texts.
"""

import random
import time

import torch

from solutions.beam_search import beam_search
from solutions.data.tiny_tales import END, IDS, START, draw_story, story_nats
from solutions.experiments import kept
from solutions.experiments.gpt_tales import tales
from solutions.generate import generate
from solutions.gpt import GPT, GPTConfig
from solutions.kv_cache import KVCache
from solutions.studies.ngrams import NGram
from solutions.studies.tales_model import CONFIG, model_nats, words_of

SEEDS = (0, 1, 2)
WIDTHS = (1, 2, 4, 8)
# temperature, top_k, top_p
SETTINGS = (
    *((t, None, None) for t in (0.5, 0.8, 1.0, 1.3, 1.6)),
    *((1.0, None, 0.9), (1.6, None, 0.9), (1.6, 5, None)),
)


def storyteller() -> GPT:
    """Return the trained model of lesson gpt."""
    model = GPT(CONFIG)
    model.load_state_dict(kept(tales, std=0.08, seed=0)["weights"])
    return model.eval()


def judged(stories: list[list[str]]) -> dict:
    """Ask the grammar: which stories it could have told, and how surprising those are.

    Of the others, the share whose hero has a friend of the same name.
    """
    nats, wrong = [], []
    for words in stories:
        try:
            nats.append(story_nats(words))
        except (ValueError, KeyError):  # a word that the grammar never says there
            wrong.append(words)
    return {
        "right": len(nats) / len(stories),
        "nats": sum(nats) / max(1, len(nats)),
        "own friend": sum(map(own_friend, wrong)) / max(1, len(wrong)),
    }


def own_friend(words: list[str]) -> bool:
    """Look at "once mia the ... a friend called mia": are the two names the same?"""
    return "called" in words[1:-1] and words[1] == words[words.index("called") + 1]


def drawn(seed: int, n: int) -> list[dict]:
    """Draw n stories by every setting; the last entry is a trigram's, the dumb baseline."""
    model, found = storyteller(), []
    start = torch.full((n, 1), IDS[START])
    for temperature, top_k, top_p in SETTINGS:
        generator = torch.Generator().manual_seed(seed)
        how = (temperature, top_k, top_p, IDS[END])
        ids = generate(model, start, CONFIG.block_size, generator, *how)
        stories = [words_of(row) for row in ids]
        found.append(judged(stories) | {"first": " ".join(stories[0])})
    found.append(judged(trigram_stories(seed, n)))
    return found


def trigram_stories(seed: int, n: int) -> list[list[str]]:
    """Draw stories from the counts of word triples of 1,000 stories."""
    generator, dice = torch.Generator().manual_seed(seed), random.Random(seed)
    texts = [[START, *draw_story(generator)[0], END] for _ in range(1000)]
    counts = NGram(3, len(IDS), texts).followers
    stories = []
    for _ in range(n):
        words = [START]
        while words[-1] != END and len(words) < CONFIG.block_size:
            after = counts[tuple(words[-2:])]
            words += dice.choices(list(after), list(after.values()))
        stories.append([word for word in words if word not in (START, END)])
    return stories


def searched(seed: int, n: int) -> list[dict]:
    """Continue n beginnings by beams of every width, and by drawing: log-probabilities by way."""
    model, generator = storyteller(), torch.Generator().manual_seed(seed)
    with torch.no_grad():  # as a decorator it would hide which file the function rests on
        return [continued(model, draw_story(generator)[0], generator) for _ in range(n)]


def continued(model: GPT, words: list[str], generator: torch.Generator) -> dict:
    """Go on after the first sentence of a story, in all ways."""
    words = words[: words.index(".") + 1]
    start = [IDS[START], *(IDS[word] for word in words)]
    rest = CONFIG.block_size - len(start)

    def log_odds(ids: torch.Tensor) -> torch.Tensor:
        return model(ids)[:, -1].log_softmax(-1)

    best = [beam_search(log_odds, start, IDS[END], width, rest)[0] for width in WIDTHS]
    stories = [words_of(torch.tensor(ids)) for _, ids in best]
    ids = generate(model, torch.tensor([start]), rest, generator, end=IDS[END])
    return {
        "log_p": [log_p for log_p, _ in best],
        "right": [judged([story])["right"] for story in stories],
        "texts": [" ".join(story) for story in stories],
        "drawn": float(model_nats(model, ids[:, : len(start)]) - model_nats(model, ids)),
    }


def one_more_token(lengths: list[int], repeats: int) -> dict[str, torch.Tensor]:
    """Time the scores of one more token, lengths in turn: CPU seconds (lengths, repeats)."""
    torch.manual_seed(0)
    model = GPT(GPTConfig(65, max(lengths), n_layer=4, n_head=4, n_embd=128)).eval()
    ids = torch.randint(65, (1, max(lengths)))
    seconds = {name: torch.zeros(len(lengths), repeats) for name in ("cached", "read again")}
    with torch.no_grad():
        full = []
        for length in lengths:
            full.append(KVCache(4))
            full[-1].read(model, ids[:, : length - 1])
        for i in range(repeats):
            for j, length in enumerate(lengths):
                cache = KVCache(4)  # a fresh one around the kept keys: each try starts alike
                cache.keys, cache.values = list(full[j].keys), list(full[j].values)
                begin = time.thread_time()
                cache.read(model, ids[:, length - 1 : length])
                between = time.thread_time()
                model(ids[:, :length])
                seconds["cached"][j, i] = between - begin
                seconds["read again"][j, i] = time.thread_time() - between
    return seconds


LENGTHS = [16, 64, 128, 256, 512, 1024]

RUNS = [
    *((drawn, {"seed": seed, "n": 80}) for seed in SEEDS),
    *((searched, {"seed": seed, "n": 3}) for seed in SEEDS),
    (one_more_token, {"lengths": LENGTHS, "repeats": 11}),
]
