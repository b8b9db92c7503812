"""Time our byte pairs, pure Python, beside `tokenizers`, which is Rust, in turns in one run."""

import os
import statistics
import time

from solutions.data.tiny_shakespeare import text
from solutions.tokenizer import Tokenizer
from tests.oracle_byte_pairs import oracle, oracle_merges, written

N_VOCAB = 1024


def figures(rounds: int = 5) -> dict[str, float | bool]:
    """Return seconds (medians), ratios (below 1: ours is faster) and whether results are equal.

    Ratios by the clock, and `cpu` by the CPU seconds of all threads: `tokenizers` uses every core.
    They are taken round by round, so that a busy moment of the machine hits both. A fresh
    tokeniser encodes, with no word kept from before. `encode_lines` gives the oracle its
    batch of lines, which it shares out among the cores.
    """
    said = text()
    lines = said.splitlines(keepends=True)
    spent = {name: [] for name in TASKS}
    equal = True
    for _ in range(rounds):
        theirs, ours = oracle(said, N_VOCAB), Tokenizer.train(said, N_VOCAB)
        equal &= written(ours.merges) == oracle_merges(theirs)
        equal &= ours.encode(said) == theirs.encode(said).ids
        for name, task in TASKS.items():
            spent[name].append(seconds(task, said, lines, theirs, Tokenizer(ours.merges)))
    found = {f"bpe.{n}_seconds": statistics.median(t for t, _ in s) for n, s in spent.items()}
    for what in ("train", "encode"):
        for i, clock in enumerate(("", "_cpu")):
            pairs = zip(spent[f"{what}_ours"], spent[f"{what}_tokenizers"], strict=True)
            found[f"bpe.{what}{clock}_ratio"] = statistics.median(a[i] / b[i] for a, b in pairs)
    return found | {"bpe.equal": equal, "bpe.load": os.getloadavg()[0]}


TASKS = {
    "train_ours": lambda said, lines, theirs, ours: Tokenizer.train(said, N_VOCAB),
    "train_tokenizers": lambda said, lines, theirs, ours: oracle(said, N_VOCAB),
    "encode_ours": lambda said, lines, theirs, ours: ours.encode(said),
    "encode_tokenizers": lambda said, lines, theirs, ours: theirs.encode(said).ids,
    "encode_lines_tokenizers": lambda said, lines, theirs, ours: theirs.encode_batch(lines),
}


def seconds(task, *arguments) -> tuple[float, float]:
    """Return how long a task took by the clock, and in CPU seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    task(*arguments)
    return time.perf_counter() - start, time.process_time() - cpu


def report(found: dict[str, float | bool]) -> None:
    """Print the figures as sentences."""
    b = {name.removeprefix("bpe."): value for name, value in found.items()}
    for what in ("train", "encode"):
        ours, theirs = b[f"{what}_ours_seconds"], b[f"{what}_tokenizers_seconds"]
        print(f"{ours:7.2f} s  to {what} 1.1 MB, ours; {theirs:.2f} s tokenizers (Rust)")
        print(f"{b[f'{what}_ratio']:7.2f} x  its time, {b[f'{what}_cpu_ratio']:.2f} x its CPU time")
    print(f"the merges and ids are {'equal' if b['equal'] else 'NOT EQUAL'}")


if __name__ == "__main__":
    report(figures())
