"""recurrence: the reference against PyTorch, the sentences, the figure, and what the page says."""

import json
import math
import shutil
import subprocess

import pytest
import torch
from torch import nn

from solutions.data.recall import BLANK, CHANCE, N_SYMBOLS, draw_recall
from solutions.data.street import (
    DISTANCES,
    ID,
    SUBJECTS,
    WORDS,
    draw_sentences,
    n_phrases,
    nats_per_sentence,
    pronoun_place,
    text,
)
from solutions.experiments import kept
from solutions.experiments.recurrence import FEW, SEEDS, recall, street
from solutions.figures.back_in_time import back_in_time, shares
from solutions.recurrence import (
    RNN,
    RNNLanguageModel,
    clip_gradient,
    gradient_by_lag,
    gru_step,
    rnn_step,
)
from solutions.studies.recall_model import KINDS, RecallModel
from solutions.studies.street_model import counted, floor, nats_per_word, pronoun_accuracy, write


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def as_torch_rnn(ours):
    n_in, n_state = ours.w_x.shape
    theirs = nn.RNN(n_in, n_state, batch_first=True)
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(ours.w_x.T)
        theirs.weight_hh_l0.copy_(ours.w_h.T)
        theirs.bias_ih_l0.copy_(ours.b)
        theirs.bias_hh_l0.zero_()
    return theirs


def with_bias(layer):
    nn.init.normal_(layer.b)
    return layer


def test_one_step_is_that_of_torch_with_its_two_biases_added():
    x, h, b_x, b_h = normal(4, 3), normal(4, 5, seed=1), normal(5, seed=2), normal(5, seed=3)
    w_x, w_h = normal(3, 5, seed=4), normal(5, 5, seed=5)
    torch.testing.assert_close(
        rnn_step(x, h, w_x, w_h, b_x + b_h), torch.rnn_tanh_cell(x, h, w_x.T, w_h.T, b_x, b_h)
    )


def test_a_gated_step_is_that_of_torch_where_its_second_bias_is_zero():
    x, h, b = normal(4, 3), normal(4, 5, seed=1), normal(15, seed=2)
    w_x, w_h = normal(3, 15, seed=3), normal(5, 15, seed=4)
    expected = torch.gru_cell(x, h, w_x.T, w_h.T, b, torch.zeros(15))
    torch.testing.assert_close(gru_step(x, h, w_x, w_h, b), expected)


def test_the_rnn_is_that_of_torch_with_and_without_a_first_state():
    ours = with_bias(RNN(3, 5))
    x, h = normal(2, 7, 3), normal(2, 5, seed=1)
    theirs = as_torch_rnn(ours)
    torch.testing.assert_close(ours(x), theirs(x)[0])
    torch.testing.assert_close(ours(x, h), theirs(x, h[None])[0])


def test_a_fresh_rnn_has_an_orthogonal_matrix_for_its_state():
    w = RNN(3, 6).w_h.detach()
    torch.testing.assert_close(w @ w.T, torch.eye(6))


def test_a_later_token_never_changes_an_earlier_state():
    layer, x = RNN(3, 5), normal(2, 6, 3)
    changed = x.clone()
    changed[:, 4:] += 1
    before, after = layer(x), layer(changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert (before[:, 4:] - after[:, 4:]).abs().amin(-1).min() > 0


def test_a_text_read_in_two_pieces_is_scored_as_in_one():
    model, ids = RNNLanguageModel(9, 4, 6), torch.arange(14).reshape(2, 7) % 9
    scores, state = model(ids)
    first, h = model(ids[:, :3])
    second, last = model(ids[:, 3:], h)
    torch.testing.assert_close(torch.cat([first, second], 1), scores)
    torch.testing.assert_close(last, state)


def test_everything_runs_without_numbers_on_the_meta_device():
    with torch.device("meta"):
        scores, state = RNNLanguageModel(9, 4, 6)(torch.zeros(2, 5, dtype=torch.long))
        h = gru_step(
            torch.empty(2, 3), torch.empty(2, 4), *map(torch.empty, [(3, 12), (4, 12), 12])
        )
    assert scores.shape == (2, 5, 9) and state.shape == (2, 6) and h.shape == (2, 4)
    assert {t.device.type for t in (scores, state, h)} == {"meta"}


def test_the_gradient_by_lag_is_the_one_of_the_product_of_jacobians():
    w_x, w_h, b = normal(2, 4), normal(4, 4, seed=1), normal(4, seed=2)
    x, h, push = normal(5, 2, seed=3), normal(4, seed=4), normal(4, seed=5)

    def step(x_t, h):
        return rnn_step(x_t, h, w_x, w_h, b)

    row, expected, states = push, [push.norm()], [h]
    for x_t in x:
        states.append(step(x_t, states[-1]))
    for x_t, before in zip(reversed(x), reversed(states[:-1]), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s, x_t=x_t: step(x_t, s), before)
        row = row @ jacobian
        expected.append(row.norm())
    torch.testing.assert_close(
        gradient_by_lag(step, x, h, push), torch.stack(expected) / push.norm()
    )
    assert not h.requires_grad


@pytest.mark.parametrize("longest", [0.5, 3.0, 100.0])
def test_clipping_agrees_with_torch_up_to_its_epsilon(longest):
    gradients = [normal(3, 4), normal(5, seed=1)]
    holders = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for holder, g in zip(holders, gradients, strict=True):
        holder.grad = g.clone()
    nn.utils.clip_grad_norm_(holders, longest)
    for mine, holder in zip(clip_gradient(gradients, longest), holders, strict=True):
        torch.testing.assert_close(mine, holder.grad, rtol=1e-5, atol=1e-6)


def test_clipping_keeps_the_direction_and_zeros():
    gradients = [normal(3, 4), normal(5, seed=1)]
    clipped = clip_gradient(gradients, 0.01)
    before, after = (torch.cat([g.flatten() for g in some]) for some in (gradients, clipped))
    assert torch.cosine_similarity(before, after, dim=0) > 1 - 1e-6
    assert after.norm().item() == pytest.approx(0.01, rel=1e-5)
    assert clip_gradient([torch.zeros(3)], 1.0)[0].tolist() == [0, 0, 0]


def test_every_pronoun_agrees_with_its_subject_at_the_distance_promised():
    for distance in (*DISTANCES, 15, 30):
        ids = draw_sentences(200, torch.Generator().manual_seed(distance), distance)
        assert ids.shape == (200, distance + 8)
        at = pronoun_place(distance)
        for row in ids.tolist():
            said = [WORDS[i] for i in row]
            subject, pronoun, be = said[at - distance - 1], said[at], said[at + 1]
            assert subject in SUBJECTS[pronoun]
            assert be == ("were" if pronoun == "they" else "was")
            assert said[0] == said[-1] == "." and "." not in said[1:-1]


def test_the_animal_of_the_lecture_is_among_the_sentences():
    rows = draw_sentences(30_000, torch.Generator().manual_seed(0), 6).unique(dim=0)
    sentence = ". the animal did not cross the street because it was too tired ."
    assert sentence in {text(row) for row in rows}
    assert len(rows) == 16 * 4 * 4 * 6  # subjects, verbs, places, reasons: all of them
    assert nats_per_sentence(6) == pytest.approx(math.log(len(rows)) + math.log(len(DISTANCES)))


@pytest.mark.parametrize("distance", [0, 1, 3, 5, 7, 8, 10])
def test_a_distance_that_no_sentence_has_is_refused(distance):
    with pytest.raises(ValueError, match="take 2, 6, 9"):
        n_phrases(distance)


def test_the_words_are_told_apart_and_a_batch_has_one_length():
    assert len(set(WORDS)) == len(WORDS) == len(ID)
    drawn = {draw_sentences(2, torch.Generator().manual_seed(i)).size(1) for i in range(60)}
    assert drawn == {d + 8 for d in DISTANCES}


def test_the_distractors_are_random_or_blank_and_the_first_symbol_is_asked():
    ids, first = draw_recall(4000, torch.Generator().manual_seed(0), lag=3)
    assert ids.shape == (4000, 4) and torch.equal(first, ids[:, 0])
    assert ids.max() == N_SYMBOLS - 1 and ids.min() == 0
    blank, first = draw_recall(50, torch.Generator().manual_seed(0), lag=3, blank=True)
    assert (blank[:, 1:] == BLANK).all() and (first < N_SYMBOLS).all()


def test_only_attention_has_a_query_and_the_forget_bias_stands_in_the_forget_block():
    models = {name: RecallModel(kind, width=6) for name, kind in KINDS.items()}
    assert [m.query is not None for m in models.values()] == [False, False, False, True]
    for name, bias in {"LSTM": 0.0, "LSTM, forget bias 5": 5.0}.items():
        block = models[name].encoder.bias_ih_l0[6:12]
        assert block.tolist() == [bias] * 6
    weights = models["attention over the RNN's states"].weights(normal(2, 5, 6))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2))


@pytest.fixture(scope="module")
def language_models():
    models = []
    for seed in SEEDS:
        model = RNNLanguageModel(len(WORDS), 32, 64)
        model.load_state_dict(kept(street, seed=seed))
        models.append(model.requires_grad_(False))
    return models


def test_the_language_model_lies_between_the_bigram_and_the_floor(language_models):
    bigram, unigram = (nats_per_word(counted(order, 12_800).__getitem__) for order in (2, 1))
    assert floor() < bigram < unigram < math.log(len(WORDS))
    for model in language_models:
        nats = nats_per_word(lambda w, m=model: m(w)[0].log_softmax(-1))
        assert floor() < nats < bigram - 0.15


def test_the_language_model_knows_the_pronoun_after_two_words_and_guesses_after_six(
    language_models,
):
    for model in language_models:
        assert pronoun_accuracy(model, 2) > 0.95
        assert pronoun_accuracy(model, 6) < 0.4


def test_the_model_goes_on_from_a_start_up_to_the_full_stop(language_models):
    said = write(language_models[0], "the animal", torch.Generator().manual_seed(0))
    assert said.startswith("the animal ") and said.endswith(" .") and said.count(".") == 1


def accuracies(kind, blank, lag):
    return [kept(recall, kind=kind, blank=blank, seed=seed)[lag]["accuracy"] for seed in FEW]


def test_attention_recalls_over_a_hundred_random_distractors_where_the_rnn_guesses():
    assert min(accuracies("attention over the RNN's states", False, 100)) >= 0.99
    assert max(abs(a - CHANCE) for a in accuracies("RNN", False, 100)) <= 0.03


def test_an_lstm_crosses_fifty_blanks_with_a_forget_bias_and_not_twenty_without():
    assert min(accuracies("LSTM, forget bias 5", True, 50)) >= 0.99
    assert max(accuracies("LSTM", True, 20)) < 0.5


def test_the_rnn_recalls_over_short_lags():
    assert min(accuracies("RNN", False, 5)) > 0.95 and min(accuracies("RNN", True, 5)) > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_gradients_are_powers_of_the_radius_and_tanh_ones_vanish_at_every_radius(seed):
    for radius in (0.8, 1.0, 1.2):
        steps, _ = shares(radius, 1.0, bend=False, seed=seed)
        torch.testing.assert_close(steps, radius ** torch.arange(51.0, dtype=torch.float64))
        steps, look_back = shares(radius, 1.0, bend=True, seed=seed)
        assert steps[-1] < 1e-5
        assert look_back.min() > 0.01  # about 1/51: the direct path is always there
    assert shares(0.8, 1.0, bend=False, seed=seed)[0][-1] < 1e-4
    assert shares(1.2, 1.0, bend=False, seed=seed)[0][-1] > 1e3
    assert shares(1.2, 1e-4, bend=True, seed=seed)[0][-1] > 1e3  # tiny states: nearly linear


@pytest.mark.skipif(shutil.which("node") is None, reason="node runs the figure's own computation")
def test_the_figures_script_computes_what_the_course_computes():
    figure = back_in_time()
    script = figure.source.replace("export default { render };", "")
    settings = [(0.8, 1.0, False), (1.2, 1.0, False), (1.2, 1.0, True), (1.0, 0.1, True)]
    calls = [f"sharesByLag(data, {r}, {s}, {str(b).lower()})" for r, s, b in settings]
    program = f"{script}\nconst data = {json.dumps(figure.data)};\n"
    program += f"console.log(JSON.stringify([{', '.join(calls)}]));"
    run = subprocess.run(["node", "-e", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    for drawn, (radius, scale, bend) in zip(json.loads(run.stdout), settings, strict=True):
        for name, expected in zip(("steps", "back"), shares(radius, scale, bend), strict=True):
            # the page holds the matrix to five decimals
            torch.testing.assert_close(
                torch.tensor(drawn[name], dtype=torch.float64), expected, rtol=2e-3, atol=0
            )
