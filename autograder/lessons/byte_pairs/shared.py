"""What several questions of byte_pairs are tried with."""

from autograder.checks.draw import Draw


def drawn_word(d: Draw, longest: int = 7, letters: int = 3) -> tuple[int, ...]:
    """Draw a word over few letters, 0 among them, so that pairs repeat, overlap and tie."""
    return tuple(d.random.choice((0, 7, 31, 120, 255)[:letters]) for _ in range(longest))


def drawn_words(d: Draw, n: int = 8, letters: int = 3) -> dict[tuple[int, ...], int]:
    """Draw words of different lengths, each with how often it occurs."""
    drawn = [drawn_word(d, d.random.randint(1, 7), letters) for _ in range(n)]
    return {word: d.random.randint(1, 4) for word in drawn}
