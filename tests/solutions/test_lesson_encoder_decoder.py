"""The lesson encoder_decoder: the reference beside PyTorch, its properties, the page's results."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from solutions.data.tiny_french import EOS, PAD, SOS, draw_pairs
from solutions.encoder_decoder import (
    Decoder,
    DecoderBlock,
    Transformer,
    greedy_decode,
    smoothed_loss,
)
from solutions.experiments import encoder_decoder as runs
from solutions.experiments import kept
from solutions.figures.mask_switch import mask_switch
from solutions.studies.attention_maps import attention_maps
from solutions.studies.copy_transformer import copy_decoder_block, run_theirs, torch_transformer
from solutions.studies.peeking import compare_masks
from solutions.studies.translation import exact_matches
from solutions.teacher_forcing import shift_right, warmup_rate
from solutions.transformer_encoder import Encoder, PlacedEmbedding


def drawn(module: nn.Module) -> nn.Module:
    """Give every parameter, gains and biases too, a number of its own."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.3 * torch.randn_like(parameter))
    return module.eval()


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """Return three sources of 7, 4 and 1 words and their targets of 5, 2 and 3 words."""
    source = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [9, 3, 5, 4, 0, 0, 0], [6, 0, 0, 0, 0, 0, 0]])
    target = torch.tensor([[5, 6, 7, 4, EOS], [8, EOS, 0, 0, 0], [3, 3, EOS, 0, 0]])
    return source, target


def small(**options) -> Transformer:
    return drawn(Transformer(11, 9, n_embd=24, n_head=4, n_hidden=40, **options))


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("n_layer", [1, 3])
def test_the_transformer_agrees_with_pytorch_with_copied_weights(norm, n_layer):
    ours = small(norm=norm, n_layer=n_layer)
    source, target = sentences()
    expected = run_theirs(ours, torch_transformer(ours), source, shift_right(target))
    torch.testing.assert_close(ours(source, target), expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_gradients_agree_with_pytorch_too(norm):
    ours = small(norm=norm)
    theirs = torch_transformer(ours)
    source, target = sentences()
    embeddings = [ours.encoder.embedding.table.weight, ours.decoder.embedding.table.weight]
    push = torch.randn(3, 5, 9)
    mine = torch.autograd.grad(ours(source, target), embeddings, push)
    scored = run_theirs(ours, theirs, source, shift_right(target))
    for a, b in zip(mine, torch.autograd.grad(scored, embeddings, push), strict=True):
        torch.testing.assert_close(a, b, atol=2e-4, rtol=1e-3)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_decoder_block_agrees_with_pytorch_with_masks(norm):
    ours = drawn(DecoderBlock(24, 4, norm, n_hidden=40))
    theirs = nn.TransformerDecoderLayer(
        24, 4, 40, dropout=0.0, batch_first=True, norm_first=norm == "pre"
    )
    copy_decoder_block(ours, theirs)
    x, memory = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    words = torch.arange(7) < torch.tensor([[7], [3]])
    expected = theirs(x, memory, tgt_mask=~causal, memory_key_padding_mask=~words)
    got = ours(x, memory, causal, words.unsqueeze(1))
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(ours(x, memory), theirs(x, memory), atol=1e-5, rtol=1e-4)


def test_the_block_refuses_other_orders():
    with pytest.raises(ValueError, match="'pre' or 'post'"):
        DecoderBlock(8, 2, norm="before")


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
def test_the_smoothed_loss_agrees_with_pytorch(smoothing):
    logits, target = 3 * torch.randn(4, 6, 9), torch.randint(0, 9, (4, 6))
    target[1, 3:] = 7
    expected = F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=7, label_smoothing=smoothing
    )
    got = smoothed_loss(logits, target, smoothing, padding=7)
    torch.testing.assert_close(got, expected)


def test_shift_right_is_the_target_one_place_later_and_warmup_rate_has_its_peak():
    assert shift_right(torch.tensor([[7, 8, EOS, PAD]])).tolist() == [[SOS, 7, 8, EOS]]
    rates = [warmup_rate(step, 64, 100) for step in range(1, 400)]
    assert rates.index(max(rates)) == 99 and rates[49] == pytest.approx(rates[99] / 2)
    assert rates[0] == pytest.approx(0.000125) and max(rates) == pytest.approx(0.0125)
    assert warmup_rate(400, 64, 100) == pytest.approx(max(rates) / 2)
    with pytest.raises(ValueError, match="count from 1"):
        warmup_rate(0, 64)


def test_a_later_target_word_never_changes_an_earlier_score_and_without_the_mask_it_does():
    source, target = sentences()
    changed = target.clone()
    changed[0, 2:] = torch.tensor([3, 8, 6])
    model, peeking = small(), small(causal=False)
    before, after = model(source, target)[0], model(source, changed)[0]
    torch.testing.assert_close(before[:3], after[:3])
    assert (before[3:] - after[3:]).abs().amax(-1).min() > 1e-3
    leak = (peeking(source, target)[0] - peeking(source, changed)[0]).abs().amax(-1)
    assert leak.min() > 1e-3


def test_padding_changes_nothing_in_source_or_target():
    source, target = sentences()
    model = small()
    for row, (s, t) in enumerate(((7, 5), (4, 2), (1, 3))):
        alone = model(source[row : row + 1, :s], target[row : row + 1, :t])[0]
        torch.testing.assert_close(model(source, target)[row, :t], alone, atol=2e-5, rtol=1e-4)


def test_greedy_decoding_writes_what_the_forward_pass_would_choose():
    model, (source, _) = small(), sentences()
    model.out.bias.data[EOS] += 1.0
    with torch.no_grad():
        written = greedy_decode(model, source, 6)
        chosen = model(source, written).argmax(-1)
    known = written != PAD
    assert torch.equal(written[known], chosen[known])


class Scripted(nn.Module):
    """Write a given text, word by word, and count the calls."""

    def __init__(self, texts):
        super().__init__()
        self.texts, self.encoded, self.decoded = texts, 0, 0

    def encode(self, source):
        self.encoded += 1
        return source, source

    def decode(self, tokens, memory, mask):
        self.decoded += 1
        words = self.texts[:, : tokens.size(1)]
        return F.one_hot(words, 9).float()


def test_a_batch_finishes_early_when_all_sentences_have_ended():
    texts = torch.tensor([[5, 6, EOS, 7, 7, 7], [8, EOS, 3, 3, 3, 3]])
    model = Scripted(texts)
    written = greedy_decode(model, torch.ones(2, 4, dtype=torch.long), 6)
    assert written.tolist() == [[5, 6, EOS], [8, EOS, PAD]]
    assert (model.encoded, model.decoded) == (1, 3)
    cut = Scripted(texts)
    assert greedy_decode(cut, torch.ones(2, 4, dtype=torch.long), 2).tolist() == [[5, 6], [8, EOS]]
    assert cut.decoded == 2


def test_translate_fills_up_with_padding():
    model, (source, _) = small(), sentences()
    model.out.bias.data[EOS] += 100
    with torch.no_grad():
        assert model.translate(source, 4).tolist() == [[EOS, PAD, PAD, PAD]] * 3


def test_everything_runs_on_the_meta_device():
    source, target = (ids.to("meta") for ids in sentences())
    model = Transformer(11, 9, 24, 4).to("meta")
    logits = model(source, target)
    assert logits.shape == (3, 5, 9) and smoothed_loss(logits[:0, :0], target[:0, :0]).ndim == 0
    assert Encoder(11, 24, 4, 1).to("meta")(source).shape == (3, 7, 24)
    memory = torch.randn(3, 7, 24, device="meta")
    assert Decoder(9, 24, 4, 1).to("meta")(target, memory).shape == (3, 5, 24)


def test_words_and_places_weigh_about_the_same_at_the_start():
    torch.manual_seed(0)
    embedding = PlacedEmbedding(500, 64)
    ids = torch.arange(3, 23)[None]
    with torch.no_grad():
        words = embedding.table(ids) * 8
        places = embedding(ids) - words
    assert 0.5 < float(words.std() / places.std()) < 2


def test_the_maps_are_weights_and_respect_the_masks():
    source, target = sentences()
    maps = attention_maps(small(n_layer=2), source, target)
    shapes = {"encoder": (2, 3, 4, 7, 7), "decoder": (2, 3, 4, 5, 5), "cross": (2, 3, 4, 5, 7)}
    for kind, shape in shapes.items():
        assert maps[kind].shape == shape
        torch.testing.assert_close(maps[kind].sum(-1), torch.ones(shape[:-1]))
    assert maps["decoder"].triu(1).abs().max() == 0
    assert maps["cross"][:, 1, :, :, 4:].abs().max() == 0
    assert maps["encoder"][:, 1, :, :, 4:].abs().max() == 0


# the experiments


def recorded() -> dict:
    return kept(runs.translator, kind="transformer", seed=0, every=50)


def peeking() -> dict:
    return kept(
        runs.translator,
        kind="transformer",
        seed=0,
        causal=False,
        steps=runs.PEEK_STEPS,
        every=25,
    )


def test_the_transformer_translates_at_least_99_percent_over_all_lengths():
    tests = [draw_pairs(300, 1, True, *ends) for ends in runs.BANDS.values()]
    model = runs.build("transformer")
    model.load_state_dict(recorded()["state"])
    right = [float(exact_matches(model.eval(), pairs).float().mean()) for pairs in tests]
    assert sum(right) / len(right) >= 0.99, right


def test_the_rnn_with_attention_needs_fewer_steps():
    def first(notes):
        return next(note["step"] for note in notes if round(note["right"], 3) >= 0.95)

    rnn = kept(runs.translator, kind="rnn", seed=0, steps=runs.RNN_STEPS, every=50)
    assert first(rnn["notes"]) < first(recorded()["notes"])


def test_without_the_mask_the_loss_is_lower_and_nothing_is_written_right():
    peek, proper = peeking(), recorded()
    steps = runs.PEEK_STEPS
    ours, theirs = (sum(run["loss"][steps - 10 : steps]) / 10 for run in (proper, peek))
    assert theirs < 0.02 and theirs < ours / 3
    assert peek["notes"][-1]["right"] < 0.05
    assert recorded()["notes"][-1]["right"] >= 0.98


def test_one_batch_is_learned_by_heart_and_smoothing_has_a_floor():
    plain, smooth = (kept(runs.one_batch, smoothing=s) for s in (0.0, 0.1))
    v = len(runs.ENGLISH)
    top, rest = 0.9 + 0.1 / v, 0.1 / v
    floor = -top * math.log(top) - (v - 1) * rest * math.log(rest)
    assert plain["loss"][-1] < 0.05 and plain["right"] == 1.0 and smooth["right"] == 1.0
    assert floor < smooth["loss"][-1] < floor + 0.1
    assert abs(plain["loss"][0] - math.log(v)) < 1


def test_time_per_step_is_measured_at_every_length():
    for kind in ("rnn", "transformer"):
        found = kept(runs.step_milliseconds, kind=kind)
        assert len(found) == len(runs.LENGTHS) and found[-1] > 4 * found[0] > 0


def test_the_mask_decides_who_can_write_for_several_seeds():
    for seed in range(4):
        found = compare_masks(Transformer, seed)
        proper, peek = found["with the mask"], found["without"]
        assert sum(peek["loss"][-5:]) < sum(proper["loss"][-5:])
        assert peek["right"] < 0.2 * proper["right"]


def test_the_figure_shows_the_recorded_runs(browser, tmp_path):
    pairs = runs.shown_pairs()
    figure = mask_switch({"with": recorded(), "without": peeking()}, pairs)
    page = tmp_path / "page.html"
    body = figure._repr_html_()
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
    browser.view(375)
    browser.open(page)

    def message():
        return browser.evaluate("document.querySelector('.message').textContent")

    move = """(() => { const s = document.querySelector("input[type=range]"); s.value = s.max;
        s.dispatchEvent(new Event("input")); })()"""
    browser.evaluate(move)
    last = recorded()["notes"][-1]
    assert f"After {last['step']} steps with the mask" in message()
    browser.evaluate("document.querySelectorAll('input[type=radio]')[1].click()")
    browser.evaluate(move)
    peek = peeking()["notes"][-1]
    assert f"After {peek['step']} steps without the mask" in message()
    assert f"{100 * peek['right']:.0f} % of new sentences" in message()
    written = browser.evaluate("document.querySelector('.texts').textContent")
    assert peek["written"][0][:20] in written
    assert browser.errors == []
