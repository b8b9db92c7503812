"""position: the five schemes against other computations, the tasks, and the page's results."""

import json
import math

import pytest
import torch
from torch import nn

from solutions.data.places import BACK, IGNORE, A, B, draw_back, draw_order
from solutions.experiments import kept
from solutions.experiments.position import (
    LENGTHS,
    LONGEST,
    SCHEMES,
    SEEDS,
    asked_places,
    places,
    scheme_of,
    swapped,
)
from solutions.figures.lengths import lengths
from solutions.multi_head import MultiHeadAttention
from solutions.position import (
    LearnedPositions,
    RelativeBias,
    alibi_bias,
    apply_rotary,
    sinusoidal_positions,
)
from solutions.studies.position_model import NoPositions, PositionModel
from solutions.studies.side_by_side import SideBySide


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_sinusoid_is_the_formula_number_by_number():
    table = sinusoidal_positions(7, 10)
    assert table.shape == (7, 10) and table.dtype == torch.float32
    for t in range(7):
        for i in range(5):
            angle = t / 10000 ** (2 * i / 10)
            assert table[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_shifting_sinusoids_is_one_rotation_for_all_positions():
    table, k = sinusoidal_positions(60, 12), 7
    angle = [k / 10000 ** (2 * i / 12) for i in range(6)]
    blocks = [[[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]] for a in angle]
    turn = torch.block_diag(*(torch.tensor(block) for block in blocks))
    torch.testing.assert_close(table[:-k] @ turn, table[k:], atol=1e-5, rtol=0)


def test_how_two_sinusoids_match_depends_on_their_distance_only():
    table = sinusoidal_positions(50, 16)
    match = table @ table.T
    for offset in (0, 1, 5, 20):
        diagonal = match.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-4, rtol=0)


def test_learned_rows_are_those_of_an_embedding_from_the_start_on():
    layer, x = LearnedPositions(9, 6), torch.randn(2, 4, 6)
    torch.testing.assert_close(layer(x, start=3), x + layer.table(torch.arange(3, 7)))
    assert layer(torch.randn(2, 9, 6)).shape == (2, 9, 6)


@pytest.mark.parametrize(("length", "start"), [(10, 0), (1, 9), (4, 6)])
def test_past_the_table_a_sentence_names_both_numbers(length, start):
    layer = LearnedPositions(9, 6)
    with pytest.raises(ValueError, match=rf"9 rows.*needs {length + start}"):
        layer(torch.randn(2, length, 6), start)


def test_a_relative_bias_is_the_same_along_every_diagonal_and_flat_beyond_its_reach():
    layer = RelativeBias(3, 2)
    bias = layer(8).detach()
    for offset in range(-7, 8):
        diagonal = bias.diagonal(offset, dim1=-2, dim2=-1)  # (H, length of the diagonal)
        row = layer.table.weight[max(-2, min(2, offset)) + 2]
        torch.testing.assert_close(diagonal, row[:, None].expand_as(diagonal))


def test_the_last_queries_see_the_last_rows():
    table = RelativeBias(3, 4)
    torch.testing.assert_close(table(2, 7), table(7)[:, -2:])
    for causal in (True, False):
        torch.testing.assert_close(
            alibi_bias(4, 2, 7, causal=causal), alibi_bias(4, 7, causal=causal)[:, -2:]
        )


def test_rotary_is_a_product_with_complex_numbers_and_keeps_lengths():
    x = torch.randn(2, 3, 5, 8, dtype=torch.float64)
    angle = torch.arange(4, 9)[:, None] / 10000 ** (torch.arange(0, 8, 2) / 8)
    turned = torch.view_as_complex(x.unflatten(-1, (4, 2))) * torch.exp(1j * angle.double())
    expected = torch.view_as_real(turned).flatten(-2)
    torch.testing.assert_close(apply_rotary(x, 4), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(apply_rotary(x).norm(dim=-1), x.norm(dim=-1), atol=1e-5, rtol=0)
    assert torch.equal(apply_rotary(x)[..., 0, :], x[..., 0, :])
    assert apply_rotary(x.half()).dtype == torch.float16


def test_turned_queries_and_keys_meet_by_their_distance_only():
    q, k = torch.randn(2, 1, 16)
    scores = [float(apply_rotary(q, t) @ apply_rotary(k, t - 3).T) for t in (3, 10, 200)]
    assert max(scores) - min(scores) < 1e-3
    assert abs(scores[0] - float(apply_rotary(q, 3) @ apply_rotary(k, 1).T)) > 1e-2


def test_alibi_adds_up_to_the_causal_softmax_of_a_line():
    bias = alibi_bias(8, 6)
    assert [float(b[5, 4]) for b in bias] == [-(2.0 ** -(h + 1)) for h in range(8)]
    assert [float(b[3, 1]) for b in alibi_bias(2, 4)] == [-2 / 16, -2 / 256]
    assert (bias.diagonal(dim1=-2, dim2=-1) == 0).all()
    assert (bias.triu(1) == -torch.inf)[:, *torch.triu_indices(6, 6, 1)].all()
    both = alibi_bias(4, 6, causal=False)
    torch.testing.assert_close(both[0::2], alibi_bias(4, 6)[0::2])
    torch.testing.assert_close(both[1::2], alibi_bias(4, 6)[1::2].mT)


def test_every_scheme_runs_on_the_meta_device():
    with torch.device("meta"):
        assert sinusoidal_positions(5, 6).device.type == "meta"
        assert alibi_bias(3, 4, 6, causal=False).shape == (3, 4, 6)
        assert RelativeBias(3, 2)(4, 6).device.type == "meta"
        assert LearnedPositions(9, 6)(torch.zeros(2, 5, 6)).shape == (2, 5, 6)
        assert apply_rotary(torch.zeros(2, 3, 5, 8)).device.type == "meta"


def test_gradients_flow_through_every_scheme_that_takes_a_tensor():
    x = torch.randn(2, 3, 4, 6, requires_grad=True)
    apply_rotary(x).square().sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach(), atol=1e-5, rtol=1e-5)  # lengths are kept
    rows = LearnedPositions(5, 2)
    rows(torch.zeros(3, 2, 2), start=1).sum().backward()
    assert rows.table.weight.grad[:, 0].tolist() == [0.0, 3.0, 3.0, 0.0, 0.0]
    table = RelativeBias(2, 1)
    table(5).sum().backward()
    assert table.table.weight.grad[:, 0].tolist() == [10.0, 5.0, 10.0]


def test_the_label_says_which_of_the_two_comes_first():
    ids, target = draw_order(200, 9, draws())
    first_a, first_b = ((ids == token).int().argmax(-1) for token in (A, B))
    assert ((ids == A).sum(-1) == 1).all() and ((ids == B).sum(-1) == 1).all()
    assert torch.equal(target, (first_a < first_b).long())
    assert 0.35 < target.float().mean() < 0.65
    again = swapped(swapped(ids))
    assert torch.equal(again, ids) and not torch.equal(swapped(ids), ids)


def test_the_second_task_asks_for_the_letter_three_back():
    ids, target = draw_back(5, 8, draws())
    assert BACK == 3 and (target[:, :3] == IGNORE).all()
    assert torch.equal(target[:, 3:], ids[:, :-3])


def encoder(scheme="none", causal=False, pool=True):
    torch.manual_seed(1)
    return PositionModel(scheme_of(scheme, causal), 10, 2, causal, pool)


def test_without_positions_shuffled_tokens_give_the_same_mean_and_attention_moves_along():
    ids, _ = draw_order(6, 9, draws())
    order = torch.randperm(9, generator=draws(3))
    model = encoder()
    torch.testing.assert_close(model(ids), model(ids[:, order]), atol=1e-5, rtol=1e-4)
    layer, x = MultiHeadAttention(12, 3), torch.randn(2, 9, 12)
    torch.testing.assert_close(layer(x)[:, order], layer(x[:, order]), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("scheme", [*SCHEMES, "fraction", "integer"])
def test_every_scheme_makes_order_visible(scheme):
    ids, _ = draw_order(6, 9, draws())
    model = encoder(scheme)
    assert (model(ids) - model(ids.flip(1))).abs().max() > 1e-3


def test_symmetric_alibi_reads_a_text_backwards_as_forwards():
    ids, _ = draw_order(6, 9, draws())
    model = encoder("symmetric ALiBi")
    torch.testing.assert_close(model(ids), model(ids.flip(1)), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("scheme", ["none", *SCHEMES])
def test_a_causal_model_never_sees_the_future(scheme):
    ids = torch.randint(10, (2, 9), generator=draws())
    model = encoder(scheme, causal=True, pool=False)
    changed = ids.clone()
    changed[:, 6:] = (changed[:, 6:] + 1) % 10
    torch.testing.assert_close(model(ids)[:, :6], model(changed)[:, :6])
    assert (model(ids)[:, 6:] - model(changed)[:, 6:]).abs().max() > 1e-3


def test_models_side_by_side_compute_what_each_computes_alone():
    torch.manual_seed(0)
    models = [PositionModel(NoPositions(), 10, 2, False, True) for _ in range(3)]
    together = SideBySide(models)
    ids = torch.randint(10, (3, 4, 7), generator=draws())
    alone = torch.stack([model(x) for model, x in zip(models, ids, strict=True)])
    torch.testing.assert_close(together(ids), alone, atol=1e-5, rtol=1e-4)
    assert sum(p.numel() for p in together.parameters()) == 3 * sum(
        p.numel() for p in models[0].parameters()
    )
    other = PositionModel(NoPositions(), 10, 2, False, True)
    other.load_state_dict(together.state_of(2))
    torch.testing.assert_close(other(ids[2]), alone[2], atol=1e-5, rtol=1e-4)


def test_models_side_by_side_drop_out_each_for_itself_and_only_in_training():
    together = SideBySide([nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5)) for _ in range(2)])
    for p in together.parameters():
        nn.init.ones_(p)
    x = torch.ones(2, 64, 1)
    assert set(together(x).unique().tolist()) == {0.0, 4.0}
    assert not torch.equal(*together(x))
    assert (together.eval()(x) == 2).all()


def share(task, scheme, causal, length):
    """Return the accuracies of the seeds at one length."""
    found = kept(places, task=task, scheme=scheme, causal=causal)["accuracy"]
    assert found.shape == (len(SEEDS), len(LENGTHS)) and len(SEEDS) == 3
    return found[:, LENGTHS.index(length)]


def test_an_encoder_without_positions_is_at_chance_and_a_causal_model_is_not():
    for length in LENGTHS:
        assert (share("order", "none", False, length) - 0.5).abs().max() < 0.02
    assert (share("order", "symmetric ALiBi", False, LONGEST) - 0.5).abs().max() < 0.05
    assert share("order", "none", True, LONGEST).min() >= 0.99


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_solves_the_order_task_at_the_trained_length(scheme):
    assert share("order", scheme, False, LONGEST).mean() >= 0.99


def test_sinusoids_do_not_carry_to_longer_texts():
    assert share("back", "sinusoidal", True, LONGEST).min() >= 0.99
    assert share("back", "sinusoidal", True, 32).max() < 0.35
    assert share("order", "sinusoidal", False, 32).mean() < 0.85
    assert share("order", "sinusoidal", False, 64).max() < 0.7


def test_no_scheme_is_the_best_of_both_tasks_at_four_times_the_length():
    best = {}
    for task, causal in (("order", False), ("back", True)):
        means = {s: float(share(task, s, causal, 64).mean()) for s in SCHEMES}
        best[task] = max(means, key=means.get)
    assert best["order"] != best["back"]


def test_what_the_page_says_of_the_other_schemes():
    assert share("back", "learned", True, LONGEST).min() >= 0.99
    assert share("back", "learned", True, 20).max() < 0.5
    assert share("back", "rotary", True, 32).min() >= 0.95
    assert share("back", "rotary", True, 64).max() < 0.3
    assert share("back", "ALiBi", True, LONGEST).max() < 0.5
    assert share("order", "ALiBi", False, 64).min() >= 0.98
    assert share("order", "relative", False, 64).mean() > 0.85
    assert share("back", "relative", True, 64).mean() > 0.8


def test_the_two_failing_ideas_fail_where_the_page_says():
    assert share("back", "fraction", True, LONGEST).max() < 0.5
    assert share("back", "integer", True, LONGEST).min() > 0.9
    assert share("back", "integer", True, 20).max() < 0.5
    fraction, sinusoidal = (share("order", s, False, 64) for s in ("fraction", "sinusoidal"))
    assert fraction.min() > 0.9 and fraction.min() > sinusoidal.max()
    others = [share("order", s, False, 64).mean() for s in ("learned", "rotary")]
    assert fraction.mean() > max(others)  # with the sinusoids: three of the five


def test_the_figure_holds_a_row_of_weights_for_every_length():
    found = kept(places, task="back", scheme="relative", causal=True)
    task = {
        "chance": 1 / 12,
        "asks": "the last token",
        "places": [asked_places(False, n) for n in LENGTHS],
        "schemes": {"relative": found},
    }
    data = json.loads(json.dumps(lengths({"three back": task}, LENGTHS, LONGEST).data))
    (shown,) = data["tasks"]
    (scheme,) = shown["schemes"]
    for i, length in enumerate(LENGTHS):
        row, (asks, target) = scheme["rows"][i], shown["places"][i]
        assert len(row) == length and sum(row) == pytest.approx(1, abs=0.05)
        assert (asks, target) == (length - 1, length - 4)
        assert scheme["low"][i] <= scheme["mean"][i] <= scheme["high"][i]
    at_longest = scheme["rows"][LENGTHS.index(LONGEST)]
    assert at_longest.index(max(at_longest)) == LONGEST - 4


def test_the_model_has_the_three_places_and_values_are_never_turned():
    class Watched(NoPositions):
        def __init__(self):
            super().__init__()
            self.seen = []

        def turn(self, x):
            self.seen.append(x.shape)
            return x

    scheme = Watched()
    model = PositionModel(scheme, 10, 2, False, True, n_embd=16, n_head=2, n_layer=3)
    model(torch.zeros(2, 5, dtype=torch.long))
    assert scheme.seen == [(2, 2, 5, 8)] * 6  # queries and keys of three blocks
    assert isinstance(model.blocks[0].norm, nn.LayerNorm)
