"""Hugging Face's `tokenizers` on our terms: one alphabet, the same words, merges side by side."""

import json

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from solutions.vocabulary import vocabulary
from solutions.words import PRINTED

# how the oracle writes a byte: printed ones as themselves, the others as the characters from 256 on
OTHERS = [byte for byte in range(256) if byte not in PRINTED]
SIGN = {byte: chr(byte) for byte in PRINTED} | {b: chr(256 + i) for i, b in enumerate(OTHERS)}


def oracle(said: str, n_vocab: int, specials=()) -> Tokenizer:
    """Train Hugging Face's byte-level BPE on one text."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=n_vocab,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(specials),
    )
    made.train_from_iterator([said], trainer)
    return made


def oracle_merges(made: Tokenizer) -> list[tuple[str, str]]:
    """Return its merges as pairs of texts."""
    return [tuple(pair) for pair in json.loads(made.to_str())["model"]["merges"]]


def written(merges) -> list[tuple[str, str]]:
    """Write merges as the oracle does."""
    vocab = vocabulary(merges)
    return [tuple("".join(SIGN[byte] for byte in vocab[i]) for i in pair) for pair in merges]
