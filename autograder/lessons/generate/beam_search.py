"""beam_search: the cases it is tried in, and the slips that are known."""

from types import SimpleNamespace

from autograder.checks.question import Case, Exercise
from autograder.checks.slips import Slip, patched
from solutions.beam_search import beam_search


def _search(own, name, table, start, end, width, n, options):
    """Search the texts of a table of odds, which rest on all tokens and on how many there are."""
    import torch

    given = list(start)

    def log_odds(ids):
        return table[ids.size(1) - len(start)][ids[:, :-1].sum(1) % table.size(1), ids[:, -1]]

    beams = getattr(own, name)(log_odds, given, end, width, n, **options)
    return {
        "texts": [[int(i) for i in ids] for _, ids in beams],
        "log-probabilities": torch.tensor([float(log_p) for log_p, _ in beams]),
        "start": given,
    }


def _texts(v=5, width=3, n=4, length=2, likely=0.0, ended=False, **options):
    def draw(d):
        end = int(d.integers(0, v))
        scores = d.normal(n + 1, v, v, v, std=1.0)  # one more than is asked for
        scores[..., end] += likely
        start = [int(i) for i in d.integers(0, v, length)]
        if ended:
            start[-1] = end
        return scores.log_softmax(-1), start, end, width, n, options

    return draw


LAST = "beams = sorted(candidates, key=rank, reverse=True)[:width]\n    return beams"


GROW = "candidates += [(log_p + p, [*ids, token]) for token, p in enumerate(row)]"


RANK = "return log_p / (len(ids) - len(start)) ** alpha"


CUT = "beams = sorted(candidates, key=rank, reverse=True)[:width]"


DIVIDED_LATE = Slip(
    "length used only at the end",
    beam_search,
    LAST,
    CUT.replace("key=rank, ", "") + "\n    return sorted(beams, key=rank, reverse=True)",
    "The rounds keep the texts with the highest log-probability, and the length counts only when "
    "the last ones are sorted: by then long texts have been cut. Use the rank in every round.",
)


PLACES_KEPT = Slip(
    "finished texts keep their places",
    beam_search,
    CUT,
    "done = [b for b in candidates if finished(b[1]) and b in beams]; "
    "others = sorted([b for b in candidates if b not in done], key=rank, reverse=True); "
    "beams = sorted(done + others[: width - len(done)], key=rank, reverse=True)",
    "A finished text keeps its place for good, and the others compete for the places left. It is "
    "a candidate like any other: a better text may push it out.",
)


def _showing(slip, **options):
    """Draw until it shows in the texts whether this slip was made."""

    def draw(d):
        searches = [beam_search, patched(slip)["beam_search"]]
        for _ in range(1000):
            drawn = _texts(likely=1.0, **options)(d)
            seen = [_search(SimpleNamespace(by=by), "by", *drawn)["texts"] for by in searches]
            if seen[0] != seen[1]:
                return drawn
        raise ValueError(f"no draw shows {slip.name!r}")

    return draw


QUESTION = Exercise(
    beam_search,
    parts={"search": 8, "finished texts": 6, "length": 4},
    cases=[
        Case("search", "width 1", _texts(width=1, likely=-6.0), _search),
        Case("search", "width 3", _texts(likely=-6.0), _search),
        Case("search", "one round", _texts(n=1, width=2), _search),
        Case("search", "a longer start", _texts(length=4, likely=-6.0), _search),
        Case("finished texts", "as wide as can be", _texts(v=3, n=3, width=60), _search),
        Case("finished texts", "an end that comes often", _texts(likely=1.0, width=4), _search),
        Case("finished texts", "an end that comes at once", _texts(likely=4.0, width=2), _search),
        Case("finished texts", "a start that ends in the end", _texts(ended=True), _search),
        Case(
            "finished texts",
            "a finished text that is pushed out",
            _showing(PLACES_KEPT, width=3),
            _search,
        ),
        Case("length", "alpha = 1", _texts(likely=0.7, width=4, n=5, alpha=1.0), _search),
        Case("length", "alpha = 1, width 2", _showing(DIVIDED_LATE, width=2, alpha=1.0), _search),
        Case("length", "alpha = 0.6", _texts(v=3, n=3, width=60, alpha=0.6), _search),
        Case(
            "length",
            "alpha = 1, a longer start",
            _texts(likely=0.7, width=4, length=5, alpha=1.0),
            _search,
        ),
    ],
    slips=[
        Slip(
            "finished beams keep growing",
            beam_search,
            "return len(ids) > len(start) and ids[-1] == end",
            "return False",
            "Texts go on after their end. A finished text stays as it is, with its place and its "
            "log-probability.",
        ),
        Slip(
            "a start taken for finished",
            beam_search,
            "len(ids) > len(start) and ids[-1] == end",
            "ids[-1] == end",
            "A start whose last token is `end` counts as finished, and nothing is written. Only "
            "tokens after the start can end a text.",
        ),
        Slip(
            "finished beams lost",
            beam_search,
            "candidates = [beam for beam in beams if finished(beam[1])]",
            "candidates = []",
            "Finished texts fall out of the race: they are candidates too, as they are.",
        ),
        Slip(
            "stopped at the first end",
            beam_search,
            "if not growing:",
            "if len(growing) < len(beams):",
            "The search stops as soon as one text is finished; others may still become better. "
            "Stop when all that stayed are finished.",
        ),
        Slip(
            "finished beams put aside",
            beam_search,
            LAST,
            "beams = [b for b in candidates if finished(b[1])] + sorted([b for b in candidates if "
            "not finished(b[1])], key=rank, reverse=True)[:width]\n"
            "    return sorted(beams, key=rank, reverse=True)",
            "Finished texts are put aside and `width` others go on. Here they compete for the "
            "same places: the best `width` of all candidates stay.",
        ),
        PLACES_KEPT,
        Slip(
            "length not used",
            beam_search,
            RANK,
            "return log_p",
            "`alpha` changes nothing: divide the log-probability by length ** alpha, each text's "
            "by its own length; a finished text keeps its own.",
        ),
        Slip(
            "length as Wu et al. have it",
            beam_search,
            "(len(ids) - len(start)) ** alpha",
            "((5 + len(ids) - len(start)) / 6) ** alpha",
            "This is the formula of Wu et al., ((5 + length) / 6) ** alpha; asked for is "
            "length ** alpha.",
        ),
        DIVIDED_LATE,
        Slip(
            "length of the whole text",
            beam_search,
            "(len(ids) - len(start)) ** alpha",
            "len(ids) ** alpha",
            "The length counts the start too: only the tokens after it count.",
        ),
        Slip(
            "length without the end",
            beam_search,
            "(len(ids) - len(start)) ** alpha",
            "max(1, len(ids) - len(start) - finished(ids)) ** alpha",
            "The token `end` is left out of the length; it counts like any other.",
        ),
        Slip(
            "multiplied by the length",
            beam_search,
            "log_p / (len",
            "log_p * (len",
            "The log-probability is multiplied by length ** alpha, which punishes long texts "
            "twice: divide.",
        ),
        Slip(
            "rank returned",
            beam_search,
            LAST,
            LAST.replace("return beams", "return [(rank(beam), beam[1]) for beam in beams]"),
            "The rank is returned, divided by the length: the log-probability itself is asked for.",
        ),
        Slip(
            "the worst kept",
            beam_search,
            "reverse=True",
            "reverse=False",
            "The least probable texts stay: sort with the highest rank first.",
        ),
        Slip(
            "width for every text",
            beam_search,
            GROW + "\n        beams = sorted(candidates, key=rank, reverse=True)[:width]",
            "candidates += sorted([(log_p + p, [*ids, token]) for token, p in enumerate(row)]"
            ", key=rank, reverse=True)[:width]\n"
            "        beams = sorted(candidates, key=rank, reverse=True)",
            "Every text keeps its own `width` best, so their number grows with each round. All "
            "candidates compete: the best `width` of all stay.",
        ),
        Slip(
            "never branches",
            beam_search,
            GROW,
            "candidates += [max([(log_p + m, [*ids, k]) for k, m in enumerate(row)], key=rank)]",
            "Every text keeps only its best next token, so there is never more than one text.",
        ),
        Slip(
            "probabilities added",
            beam_search,
            "log_p + p, [*ids, token]",
            "log_p + 2.718281828459045**p, [*ids, token]",
            "Probabilities are added up. Those of a text multiply, so their logarithms add up.",
        ),
        Slip(
            "only the last token counts",
            beam_search,
            "(log_p + p, [*ids, token])",
            "(p, [*ids, token])",
            "A text has the log-probability of its last token only: add up those of all tokens.",
        ),
        Slip(
            "one round too many",
            beam_search,
            "range(n)",
            "range(n + 1)",
            "The texts grow by n + 1 tokens.",
        ),
        Slip(
            "only the best returned",
            beam_search,
            LAST,
            LAST.replace("return beams", "return beams[:1]"),
            "Only one text is returned: all that stayed are asked for, the best first.",
        ),
        Slip(
            "start left out",
            beam_search,
            LAST,
            LAST.replace("return beams", "return [(p, ids[len(start) :]) for p, ids in beams]"),
            "The texts come without their start, which belongs in front.",
        ),
    ],
    equivalent={
        "beam_search: zip(growing, rows, strict=True) -> zip(growing, rows, strict=False)": "there "
        "is a row for every text",
        "beam_search: zip(growing, rows, strict=True) -> zip(growing, rows)": "there is a row for "
        "every text",
        "beam_search: beam[1] -> beam[-1]": "a pair's second entry is its last",
        "beam_search: beam[1] -> beam[-1] (no. 2)": "a pair's second entry is its last",
        "beam_search: list(start) -> start": "no list is ever written into",
        "beam_search: log_odds(torch.tensor([ids for _, ids in growing])).tolist() -> "
        "log_odds(torch.tensor([ids for _, ids in growing]))": "a tensor without axes serves as a "
        "number",
    },
)
