"""who_pays: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.byte_pairs import encode, train_bpe


def _tokens_per_character(own, seed):
    """Learn merges from English with the code under test, and encode three languages."""
    from solutions.data.three_scripts import tokens_per_character

    return tokens_per_character(own.train_bpe, own.encode, seed)


def _who_pays(measured: dict) -> str:
    english, french, greek = (measured[name] for name in ("English", "French", "Greek"))
    if greek > 1.2 * french and french > 1.15 * english:
        return "b"
    if greek > 1.2 * max(french, english):
        return "c"
    return "a" if max(english, french, greek) < 1.2 * min(english, french, greek) else "d"


QUESTION = Conclusion(
    "who_pays",
    points=8,
    probe=_tokens_per_character,
    inputs=(0,),
    decide=_who_pays,
    measures=[train_bpe, encode],
    answers={
        letter: "With {whose} code: {English:.2f} tokens for each character of English, "
        "{French:.2f} of French, {Greek:.2f} of Greek."
        for letter in "abcd"
    },
)
