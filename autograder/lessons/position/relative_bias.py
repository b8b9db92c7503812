"""RelativeBias: the cases it is tried in, and the slips that are known."""

from autograder.checks.draw import built
from autograder.checks.question import GRADIENT, Case, Exercise
from autograder.checks.slips import Slip
from autograder.lessons.position.shared import called_again
from autograder.seam.probe import module
from solutions.position import RelativeBias


def _relative(n_head, clip, *sizes):
    def draw(d):
        config = {"n_head": n_head, "max_distance": clip}
        return built(config, {"table.weight": d.normal(2 * clip + 1, n_head)}, *sizes)

    return draw


def _relative_before(d):
    config, weights = {"n_head": 2, "max_distance": 3}, {"table.weight": d.normal(7, 2)}
    return config, weights, [5], [2, 6]


QUESTION = Exercise(
    RelativeBias,
    parts={"values": 6, "far away": 4, "fewer queries": 4, GRADIENT: 2},
    cases=[
        Case("values", "near tokens", _relative(3, 6, 5), module),
        Case("values", "as many heads as tokens", _relative(4, 5, 4), module),
        Case("values", "one token", _relative(3, 2, 1), module),
        Case("values", "one head", _relative(1, 4, 3), module),
        Case("values", "called before", _relative_before, called_again),
        Case("far away", "beyond the largest distance", _relative(3, 2, 7), module),
        Case("far away", "at most one step", _relative(2, 1, 5), module),
        Case("far away", "no distance at all", _relative(2, 0, 4), module),
        Case("fewer queries", "the last queries of a text", _relative(2, 4, 3, 5), module),
        Case("fewer queries", "one query", _relative(3, 2, 1, 6), module),
        Case("fewer queries", "as many queries as keys", _relative(3, 2, 5, 5), module),
    ],
    slips=[
        Slip(
            "query minus key",
            RelativeBias.forward,
            "torch.arange(n_key, device=device) - query",
            "query - torch.arange(n_key, device=device)",
            "The offset is query minus key: left and right are exchanged. It is key minus query, "
            "-3 for a key three places back.",
        ),
        Slip(
            "direction lost",
            RelativeBias.forward,
            "device=device) - query  #",
            "device=device).sub(query).abs()  #",
            "Only the distance is used: a key two back and a key two ahead get the same number, "
            "and order is invisible again. Keep the sign of the offset.",
        ),
        Slip(
            "not moved to rows from 0",
            RelativeBias.forward,
            "far) + far",
            "far)",
            "The offsets are used as rows as they are: row -2 is the second last, by Python's "
            "rule. Add max_distance, so that the lowest offset has row 0.",
        ),
        Slip(
            "wrapped instead of clipped",
            RelativeBias.forward,
            "offset.clamp(-far, far) + far",
            "(offset + far) % (2 * far + 1)",
            "Far offsets come in again at the other end of the table (a remainder, or an index "
            "below zero): a key far back counts as one ahead. Clip them.",
        ),
        Slip(
            "heads last",
            RelativeBias.forward,
            ".movedim(-1, 0)",
            "",
            "The heads stand last, (T, S, H); the scores have them in front: (H, T, S).",
        ),
        Slip(
            "queries and keys exchanged",
            RelativeBias.forward,
            ".movedim(-1, 0)",
            ".movedim(-1, 0).mT",
            "Rows and columns are exchanged: a row of the table of scores belongs to a query.",
        ),
        Slip(
            "queries from position 0",
            RelativeBias.forward,
            "torch.arange(n_key - n_query, n_key, device=device)",
            "torch.arange(n_query, device=device)",
            "With fewer queries than keys the queries are the last tokens: query i stands at "
            "position i + S - T, not at i.",
        ),
        Slip(
            "n_key not used",
            RelativeBias.forward,
            "n_query if n_key is None else n_key",
            "n_query",
            "`n_key` is not used: the table has as many columns as there are keys.",
        ),
        Slip(
            "far keys left alone",
            RelativeBias.forward,
            "self.table.weight[row].movedim(-1, 0)",
            "(self.table.weight[row] * (offset.abs() <= far)[..., None]).movedim(-1, 0)",
            "Keys beyond max_distance get 0; they should get the number of the largest distance.",
        ),
        Slip(
            "first head for all",
            RelativeBias.forward,
            "self.table.weight[row]",
            "self.table.weight[:, :1].expand_as(self.table.weight)[row]",
            "All heads use the first column of the table: head h has column h.",
        ),
        Slip(
            "no gradient to the table",
            RelativeBias.forward,
            "self.table.weight[row]",
            "self.table.weight.detach()[row]",
            "The values are right but no gradient reaches the table: is there a detach() or .data?",
        ),
    ],
    equivalent={
        f"RelativeBias.forward: torch.arange({n}, device=device) -> torch.arange({n})": "checks "
        "run on the CPU, where tensors are made anyway; elsewhere the indexing would raise"
        for n in ("n_key - n_query, n_key", "n_key")
    },
)
