"""Simple methods to stand beside BERT: counting words, and counting the company words keep."""

import numpy as np
from torch import Tensor


def counts(ids: Tensor, n_vocab: int, n_special: int) -> np.ndarray:
    """Count the words of each text: ids (B, T) -> (B, V), special tokens left out."""
    table = np.zeros((len(ids), n_vocab))
    for row, text in zip(table, ids.tolist(), strict=True):
        for token in text:
            row[token] += token >= n_special
    return table


def bag_of_words(train: np.ndarray, labels: Tensor, test: np.ndarray) -> np.ndarray:
    """Fit a logistic regression on features of texts and return its answers for the test."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(train, labels.numpy()).predict(test)


def company(unlabelled: np.ndarray, n_direction: int = 10) -> np.ndarray:
    """Describe each word by the texts it occurs in: the first singular directions, (V, n)."""
    centred = unlabelled - unlabelled.mean(0)
    together = centred.T @ centred / len(centred)
    size = np.sqrt(np.diag(together) + 1e-9)
    values, vectors = np.linalg.eigh(together / size / size[:, None])
    return vectors[:, -n_direction:] * np.sqrt(np.maximum(values[-n_direction:], 0))


def neighbours(ids: Tensor, places: list[int], n_vocab: int) -> np.ndarray:
    """Describe a word by itself and the words beside it: (B, 3 V), one mark for each."""
    table = np.zeros((len(ids), 3 * n_vocab))
    for row, text, place in zip(table, ids.tolist(), places, strict=True):
        for which, at in enumerate((place - 1, place, place + 1)):
            row[which * n_vocab + text[at]] = 1
    return table
