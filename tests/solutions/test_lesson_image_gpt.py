"""The lesson image_gpt: its parts beside scikit-learn and PyTorch, and the page's results."""

import math
from itertools import pairwise, product

import pytest
import torch
from torch.nn import functional as F

from solutions.data.digits import split_digits
from solutions.experiments import kept
from solutions.experiments.image_gpt import LABELS, ROWS, SEEDS, SHORT, STEPS, measured
from solutions.experiments.image_gpt_training import CONFIG, digit_palette, digit_tokens, pretrain
from solutions.figures.completions import completions
from solutions.gpt import next_token_loss
from solutions.gpt_block import GPTConfig
from solutions.image_gpt import ImageGPT, complete_image
from solutions.linear_probe import linear_probe, pixel_features, share_right
from solutions.palette import fit_palette, quantise
from solutions.studies.pixel_tables import contexts, neighbour_bits, place_bits, place_odds
from solutions.studies.tuned_probe import tuned_share

TINY = GPTConfig(6, block_size=12, n_layer=2, n_head=2, n_embd=8, std=0.5)


@pytest.fixture
def model() -> ImageGPT:
    torch.manual_seed(0)
    return ImageGPT(TINY).eval()


@pytest.fixture
def images() -> torch.Tensor:
    return torch.randint(5, (2, 3, 4), generator=torch.Generator().manual_seed(1))


def coloured(n: int = 6, side: int = 5) -> torch.Tensor:
    """Small colour images (n, side, side, 3): patches of three colours, with a little noise."""
    generator = torch.Generator().manual_seed(2)
    colours = torch.tensor([[0.9, 0.1, 0.1], [0.1, 0.8, 0.2], [0.1, 0.2, 0.9]])
    which = torch.randint(3, (n, side, side), generator=generator)
    return colours[which] + 0.02 * torch.randn(n, side, side, 3, generator=generator)


def test_k_means_ends_where_scikit_learn_ends():
    from sklearn.cluster import KMeans

    pixels, start = torch.randn(300, 3), torch.randn(7, 3)
    theirs = KMeans(7, init=start.numpy(), n_init=1, max_iter=300, tol=0, algorithm="lloyd")
    theirs.fit(pixels.numpy())
    ours = fit_palette(pixels, start, rounds=300)
    torch.testing.assert_close(ours, torch.tensor(theirs.cluster_centers_), atol=1e-4, rtol=1e-4)
    assert torch.equal(quantise(pixels, ours), torch.tensor(theirs.labels_).long())


def test_a_round_of_k_means_never_makes_the_error_larger():
    pixels, centres = torch.randn(500, 3), torch.randn(12, 3)
    errors = []
    for _ in range(15):
        errors.append(float((centres[quantise(pixels, centres)] - pixels).square().sum()))
        centres = fit_palette(pixels, centres, rounds=1)
    assert all(b <= a + 1e-3 for a, b in pairwise(errors))
    assert errors[-1] < 0.8 * errors[0]


def test_a_colour_without_pixels_stays():
    start = torch.tensor([[0.0], [50.0]])
    assert fit_palette(torch.tensor([[1.0], [3.0]]), start).tolist() == [[2.0], [50.0]]


def test_colour_images_come_back_from_a_palette_of_their_colours():
    pictures = coloured()
    start = pictures.flatten(0, 2)[[0, 7, 31, 60]]
    palette = fit_palette(pictures.flatten(0, 2), start)
    assert (palette[quantise(pictures, palette)] - pictures).abs().mean() < 0.03


def test_a_model_of_colour_images_learns_to_price_them():
    pictures = coloured(3)
    palette = fit_palette(pictures.flatten(0, 2), torch.eye(3))
    tokens = quantise(pictures, palette)
    torch.manual_seed(0)
    small = ImageGPT(GPTConfig(4, 25, n_layer=1, n_head=2, n_embd=16, std=0.15))
    optimiser = torch.optim.AdamW(small.parameters(), lr=1e-2)
    before = small.bits(tokens).mean().item()
    for _ in range(40):
        loss = small.bits(tokens).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert abs(before - math.log2(3)) < 0.6  # about a guess
    assert loss.item() < 0.5 * before  # three images are soon known by heart


def test_the_bits_are_the_loss_of_gpt_with_a_start_token_that_is_never_an_answer(model, images):
    start = torch.full((2, 1), 5)
    ids = torch.cat([start, images.flatten(1)], dim=1)
    loss = next_token_loss(lambda x: model.gpt(x)[..., :5], ids)
    torch.testing.assert_close(model.bits(images).mean() * math.log(2), loss)


def test_the_probabilities_of_all_images_sum_to_one(model):
    every = torch.tensor(list(product(range(5), repeat=3))).view(-1, 1, 3)
    total = torch.exp2(-model.bits(every).sum((1, 2))).sum()
    torch.testing.assert_close(total, torch.tensor(1.0), atol=1e-4, rtol=0)


def test_no_pixel_changes_the_price_of_an_earlier_one(model, images):
    changed = images.clone()
    changed[:, 1, 2] = (changed[:, 1, 2] + 1) % 5
    same = (model.bits(images) - model.bits(changed)).abs() < 1e-5
    assert same.flatten(1)[:, :6].all()
    assert not same.flatten(1)[:, 6:].all(0).any()


def test_images_are_drawn_as_often_as_the_model_says(model):
    small = ImageGPT(GPTConfig(4, block_size=4, n_layer=1, n_head=1, n_embd=4, std=0.8)).eval()
    n = 4000
    draws = torch.rand(n, 1, 2, generator=torch.Generator().manual_seed(0))
    made = complete_image(small, torch.zeros(n, 1, 2).long(), 0, draws)
    every = torch.tensor(list(product(range(3), repeat=2))).view(-1, 1, 2)
    with torch.no_grad():
        odds = torch.exp2(-small.bits(every).sum((1, 2)))
    counts = torch.bincount(made[:, 0, 0] * 3 + made[:, 0, 1], minlength=9)
    assert ((counts - n * odds).abs() < 5 * (n * odds).sqrt() + 5).all()


def test_the_true_lower_half_has_no_part_in_a_completion(model, images):
    draws = torch.rand(images.shape, generator=torch.Generator().manual_seed(0))
    other = images.clone()
    other[:, 1:] = (other[:, 1:] + 2) % 5
    assert torch.equal(
        complete_image(model, images, 1, draws), complete_image(model, other, 1, draws)
    )
    assert torch.equal(complete_image(model, images, 3, draws), images)
    assert torch.equal(complete_image(model, images, 2, draws)[:, :2], images[:, :2])


def test_everything_runs_on_another_device():
    with torch.device("meta"):
        model = ImageGPT(TINY)
        images = torch.zeros(2, 3, 4, dtype=torch.long)
        draws = torch.zeros(2, 3, 4)
        pixels, centres = torch.zeros(9, 3), torch.zeros(4, 3)
        features, labels = torch.zeros(9, 5), torch.zeros(9, dtype=torch.long)
    found = [model.bits(images), complete_image(model, images, 1, draws)]
    found += [fit_palette(pixels, centres), quantise(pixels, centres)]
    found += [pixel_features(model, images)]
    assert {x.device.type for x in found} == {"meta"}
    assert [tuple(x.shape) for x in found] == [(2, 3, 4), (2, 3, 4), (4, 3), (9,), (3, 2, 8)]
    assert linear_probe(features, labels, 2).device.type == "meta"


def test_the_probe_is_the_ridge_regression_of_scikit_learn():
    from sklearn.linear_model import Ridge

    features, labels = torch.randn(40, 6).double() + 2, torch.randint(4, (40,))
    weights = linear_probe(features, labels, 4, penalty=3.0)
    theirs = Ridge(alpha=3.0).fit(features.numpy(), F.one_hot(labels, 4).numpy())
    torch.testing.assert_close(weights[:-1], torch.tensor(theirs.coef_).T)
    torch.testing.assert_close(weights[-1], torch.tensor(theirs.intercept_))
    told = torch.tensor(theirs.predict(features.numpy())).argmax(-1)
    assert share_right(weights, features, labels) == (told == labels).float().mean().item()


def test_features_are_means_of_the_stream_that_the_scores_come_from(model, images):
    whole, rows = pixel_features(model, images), pixel_features(model, images, pieces=3)
    assert whole.shape == (3, 2, 8) and rows.shape == (3, 2, 24)
    torch.testing.assert_close(rows.unflatten(-1, (3, 8)).mean(2), whole)
    seen = []
    handle = model.gpt.norm.register_forward_hook(lambda layer, x, y: seen.append(x[0]))
    model.bits(images)
    handle.remove()
    torch.testing.assert_close(whole[-1], seen[0].mean(1))


def test_contexts_are_the_four_pixels_that_stand_there():
    image = torch.arange(6).view(1, 2, 3)
    number = contexts(image, 9)[0]
    assert f"{int(number[1, 1]):04d}" == "3012"  # left, upper left, above, upper right
    assert f"{int(number[0, 0]):04d}" == "9999"
    assert f"{int(number[1, 2]):04d}" == "4129"


def test_the_tables_are_distributions_and_lean_on_the_place_where_they_know_nothing():
    known, new = torch.zeros(5, 2, 3).long(), torch.full((1, 2, 3), 2)
    totals = place_odds(known, 4).sum(-1)
    torch.testing.assert_close(totals, torch.ones(2, 3))
    new[0, 0, 0] = 3
    unseen_context = neighbour_bits(known, new, 4, trust=2.0)[0, 1, 1]
    torch.testing.assert_close(unseen_context, place_bits(known, new, 4)[0, 1, 1])


def test_the_palette_rests_on_training_images_alone():
    pixels = split_digits()[0][0].reshape(-1, 1)
    again = fit_palette(pixels, torch.linspace(0, 1, 4).unsqueeze(-1))
    assert torch.equal(digit_palette(), again)
    assert (again.diff(dim=0) > 0).all()
    known, unseen = digit_tokens()
    assert known.shape == (1437, 8, 8) and unseen.shape == (360, 8, 8)


def test_the_model_needs_30_percent_fewer_bits_than_each_place_alone_and_fewer_than_neighbours():
    known, unseen = digit_tokens()
    spent = kept(measured, steps=STEPS, seed=0)["spent"]
    place = place_bits(known, unseen, 4).mean()
    table = min(neighbour_bits(known, unseen, 4, trust).mean() for trust in (1, 3, 10, 30))
    assert spent.shape == (360, 8, 8)
    assert spent.mean() <= 0.7 * place
    assert spent.mean() < 0.85 * table
    assert table < place


def test_three_short_trainings_agree():
    ends = [kept(pretrain, steps=SHORT, seed=seed)["scores"][-1]["test"] for seed in SEEDS]
    assert max(ends) - min(ends) < 0.1
    assert max(ends) < place_bits(*digit_tokens(), 4).mean()


def test_completions_keep_what_was_given_and_differ_below():
    drawn = kept(measured, steps=STEPS, seed=0)["drawn"]
    for rows, made in zip(ROWS, drawn["made"], strict=True):
        assert (made[:, :, :rows] == drawn["truth"][:, None, :rows]).all()
        assert len(made.flatten(0, 1).flatten(1).unique(dim=0)) > 0.8 * made[:, :, 0, 0].numel()


def test_completed_halves_are_named_rightly_more_often_than_those_drawn_place_by_place():
    judged = kept(measured, steps=STEPS, seed=0)["drawn"]["judged"]
    assert judged["completed by the model"] > judged["drawn place by place"] + 0.1
    assert judged["completed by the model"] < judged["true lower half"]


def test_raw_pixels_beat_the_probe_and_the_probe_beats_an_untrained_model():
    shares = kept(measured, steps=STEPS, seed=0)["probes"]["all"]
    best = max(share for kind, share in shares.items() if kind.startswith("mean"))
    assert shares["raw pixels"] > best + 0.02
    assert best > shares["untrained, after 3 blocks"] + 0.02
    assert best > shares["how often each grey"] + 0.2


def test_with_one_tuned_probe_the_rows_are_worth_no_more_than_the_raw_pixels():
    found = kept(measured, steps=STEPS, seed=0)["probes"]
    tuned, ridge = found["all"], found["ridge"]
    error = math.sqrt(tuned["raw pixels"] * (1 - tuned["raw pixels"]) / 360)
    rows = max((kind for kind in tuned if kind.startswith("row means")), key=tuned.get)
    assert abs(tuned[rows] - tuned["raw pixels"]) < error
    assert abs(tuned["untrained, row means"] - tuned["raw pixels"]) < error
    assert ridge[rows] > ridge["raw pixels"] + 2 * error  # what an untuned probe would have told
    few = found["few"]
    for n in LABELS[:2]:
        assert sum(few["raw pixels"][n]) > sum(few[rows][n])


def test_a_tuned_probe_chooses_its_penalty_without_the_test():
    torch.manual_seed(0)
    centres = torch.randn(3, 5)
    labels, unseen = torch.arange(60) % 3, torch.arange(90) % 3
    known = centres[labels] + 0.3 * torch.randn(60, 5)
    test = centres[unseen] + 0.3 * torch.randn(90, 5)
    right = tuned_share(known, labels, test, unseen)
    assert right > 0.9
    assert tuned_share(1000 * known + 7, labels, 1000 * test + 7, unseen) == right
    wrong = tuned_share(known, labels, test, (unseen + 1) % 3)  # labels of the test only judge
    assert wrong < 0.1


def test_few_labels_were_drawn_three_times():
    few = kept(measured, steps=STEPS, seed=0)["probes"]["few"]
    assert all(len(few[kind][n]) == 3 for kind in few for n in LABELS)


def test_the_figure_holds_every_completion_and_a_still_picture():
    drawn = kept(measured, steps=STEPS, seed=0)["drawn"]
    figure = completions(drawn, digit_palette(), ROWS)
    digit = figure.data["digits"][2]
    assert len(digit["made"]) == len(ROWS) and len(digit["made"][0]) == 6
    assert all(len(one["pixels"]) == 64 == len(one["bits"]) for one in digit["made"][1])
    first = "".join(map(str, drawn["made"][1, 2, 0].flatten().tolist()))
    assert digit["made"][1][0]["pixels"] == first
    assert figure.still.startswith(b"\x89PNG")
    assert "course-figure" in figure._repr_html_()


def test_the_config_has_one_token_more_than_the_palette():
    assert CONFIG.vocab_size == len(digit_palette()) + 1
