"""what_the_memory_buys: an experiment, and what may be concluded from it."""

from autograder.checks.question import Conclusion
from solutions.alignment import AttentionDecoder, Seq2Seq, additive_scores, context, masked_softmax


def _both_memories(own, seed):
    """Train the small list repeaters with the translator under test."""
    from solutions.studies.echo import compare_memories

    right = compare_memories(own.Seq2Seq, seed)
    return {"attention": right["a state for every letter"], "single": right["a single vector"]}


def _what_the_memory_buys(measured: dict) -> str:
    gain = measured["attention"] - measured["single"]
    if abs(gain) > 0.25:
        return "b" if gain > 0 else "c"
    return "a" if measured["single"] > 0.5 else "d"


QUESTION = Conclusion(
    "what_the_memory_buys",
    points=12,
    probe=_both_memories,
    inputs=(0,),
    decide=_what_the_memory_buys,
    measures=[additive_scores, masked_softmax, context, AttentionDecoder, Seq2Seq],
    answers={
        letter: "With {whose} translator, {attention:.0%} of the lists came out right with "
        "attention, {single:.0%} through a single vector."
        for letter in "abcd"
    },
)
