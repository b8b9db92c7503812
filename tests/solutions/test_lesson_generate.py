"""The lesson generate: filters, search and weights beside their oracles; the page's results."""

import math
import os
import shutil
from pathlib import Path

import pytest
import torch

from autograder.repository import ROOT
from solutions import weights
from solutions.beam_search import beam_search
from solutions.data.tiny_tales import draw_story, entropy
from solutions.experiments import kept
from solutions.experiments.generate import (
    LENGTHS,
    SEEDS,
    SETTINGS,
    WIDTHS,
    drawn,
    judged,
    one_more_token,
    own_friend,
    searched,
    storyteller,
)
from solutions.figures.figure import IMPORT
from solutions.figures.nucleus import nucleus
from solutions.generate import generate, sample_next, top_k_filter, top_p_filter
from solutions.gpt import GPT, GPTConfig
from solutions.kv_cache import KVCache
from solutions.studies.table_model import END, draw_table, every_text, model_of, widths_and_lengths
from solutions.weights import load_gpt2

TINY = GPTConfig(11, block_size=12, n_layer=3, n_head=2, n_embd=16, std=0.5)


def tiny(**options) -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(**(vars(TINY) | options))).eval()


@pytest.mark.parametrize("k", [1, 3, 20, 50])
def test_top_k_keeps_what_transformers_keeps(k):
    from transformers import TopKLogitsWarper

    scores = torch.randn(7, 20)
    torch.testing.assert_close(top_k_filter(scores, k), TopKLogitsWarper(k)(None, scores))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9, 0.999])
def test_top_p_keeps_what_transformers_keeps(p):
    from transformers import TopPLogitsWarper

    scores = 2 * torch.randn(50, 20)
    torch.testing.assert_close(top_p_filter(scores, p), TopPLogitsWarper(p)(None, scores))


def test_what_top_p_keeps_has_p_and_would_not_without_its_last_token():
    scores = 2 * torch.randn(200, 30, dtype=torch.float64)
    kept_ones = top_p_filter(scores, 0.8) > -math.inf
    p = scores.softmax(-1).where(kept_ones, 0.0)
    last = p.where(p > 0, 2.0).amin(-1)
    assert bool((p.sum(-1) >= 0.8).all())
    assert bool((p.sum(-1) - last < 0.8).all())


def test_p_of_zero_keeps_one_and_p_of_one_keeps_all_also_by_rounding():
    scores = torch.tensor([[0.0, 50.0, 1.0], [2.0, 2.0, 2.0]])
    assert (top_p_filter(scores, 0.0) > -math.inf).tolist() == [
        [False, True, False],
        [True, False, False],
    ]
    assert torch.equal(top_p_filter(scores, 1.0), scores)


def test_of_equal_scores_the_smaller_ids_stay():
    scores = torch.zeros(100)
    assert (top_k_filter(scores, 30) > -math.inf).nonzero().flatten().tolist() == list(range(30))
    assert (top_p_filter(scores, 0.255) > -math.inf).nonzero().flatten().tolist() == list(range(26))


def test_a_temperature_of_one_half_squares_the_odds():
    scores = torch.tensor([0.8, 0.2]).log().expand(40_000, 2)
    share = sample_next(scores, torch.Generator().manual_seed(0), temperature=0.5).float().mean()
    expected = 0.04 / 0.68
    assert abs(float(share) - expected) < 5 * math.sqrt(expected * (1 - expected) / 40_000)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
@pytest.mark.parametrize("pieces", [[12], [1] * 12, [5, 1, 1, 4, 1]])
def test_reading_in_pieces_gives_the_scores_of_reading_at_once(positions, pieces):
    model, ids = tiny(positions=positions), torch.randint(11, (3, 12))
    cache = KVCache(3)
    with torch.no_grad():
        read = torch.cat([cache.read(model, piece) for piece in ids.split(pieces, dim=1)], dim=1)
        torch.testing.assert_close(read, model(ids), atol=1e-5, rtol=1e-5)
    assert len(cache) == 12


@pytest.mark.parametrize("options", [{}, {"temperature": 0}, {"top_k": 3}, {"top_p": 0.7}])
def test_a_cache_and_no_cache_write_the_same_text(options):
    model, start = tiny(), torch.randint(11, (4, 3))
    texts = [
        generate(model, start, 9, torch.Generator().manual_seed(5), cached=cached, **options)
        for cached in (True, False)
    ]
    assert texts[0].shape == (4, 12)
    assert torch.equal(*texts)
    assert torch.equal(texts[0][:, :3], start)


def test_a_text_that_has_ended_is_filled_up_and_all_ended_stops_the_writing():
    model = tiny()
    ids = generate(model, torch.zeros(6, 1, dtype=int), 11, torch.Generator().manual_seed(0), end=4)
    for row in ids.tolist():
        if 4 in row[1:]:
            first = row.index(4, 1)
            assert set(row[first:]) == {4}
    with torch.no_grad():
        model.head.weight[:] = 0  # tied: all scores are alike, so 0 wins at temperature 0
    ids = generate(model, torch.ones(2, 1, dtype=int), 11, torch.Generator(), 0, end=0)
    assert ids.tolist() == [[1, 0], [1, 0]]


def test_a_text_too_long_for_the_model_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"13 tokens.*12"):
        generate(tiny(), torch.zeros(1, 4, dtype=int), 10, torch.Generator())


def test_writing_leaves_the_mode_of_the_model_alone():
    model = tiny().train()
    generate(model, torch.zeros(1, 1, dtype=int), 2, torch.Generator())
    assert model.training


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_a_beam_as_wide_as_there_are_texts_is_brute_force(alpha):
    generator = torch.Generator().manual_seed(1)
    for _ in range(10):
        table = draw_table(4, 0.2, generator)
        texts = every_text(table, [2], n=5)
        assert sum(math.exp(log_p) for log_p, _ in texts) == pytest.approx(1, abs=1e-5)
        texts.sort(key=lambda text: text[0] / (len(text[1]) - 1) ** alpha, reverse=True)
        found = beam_search(model_of(table), [2], END, 4**5, 5, alpha)
        assert len(found) == len(texts)
        for (mine, ids), (other, expected) in zip(found[:20], texts[:20], strict=True):
            assert mine == pytest.approx(other, abs=1e-5)
            assert len(ids) == len(expected)
        best = [ids for log_p, ids in texts if log_p == pytest.approx(texts[0][0], abs=1e-6)]
        assert found[0][1] in best  # the same steps in another order are as probable


def test_a_beam_of_one_is_greedy():
    model = tiny()
    with torch.no_grad():
        ((_, found),) = beam_search(
            lambda ids: model(ids)[:, -1].log_softmax(-1), [3, 1], -1, width=1, n=8
        )
    greedy = generate(model, torch.tensor([[3, 1]]), 8, torch.Generator(), temperature=0)
    assert found == greedy[0].tolist()


def test_finished_beams_neither_grow_nor_vanish():
    table = torch.tensor([0.4, 0.5, 0.1]).log().expand(3, 3)
    found = beam_search(model_of(table), [1], end=0, width=2, n=4)
    assert found[0][1] == [1, 0]
    assert all(0 not in ids[1:-1] for _, ids in found)


def tiny_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    sizes = {"vocab_size": 23, "n_positions": 10, "n_embd": 24, "n_layer": 2, "n_head": 3}
    marks = {"bos_token_id": 0, "eos_token_id": 0}
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, **marks)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(0.4 * torch.randn_like(parameter) + 0.05)
    return theirs


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder, theirs = tmp_path_factory.mktemp("gpt2"), tiny_gpt2()
    theirs.save_pretrained(folder)
    return folder, theirs


def test_a_file_written_by_transformers_gives_the_scores_of_transformers(saved):
    folder, theirs = saved
    ids = torch.randint(23, (2, 10))
    for source in (folder, folder / "model.safetensors"):
        ours = load_gpt2(source)
        assert ours.config.n_head == 3
        assert ours.head.weight is ours.token.weight
        with torch.no_grad():
            torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=1e-4, rtol=1e-4)


def test_a_square_matrix_not_transposed_would_be_noticed(saved, monkeypatch):
    folder, theirs = saved

    def careless(tensors, n_layer):
        ours = weights_renamed(tensors, n_layer)
        for name in ours:
            if name.endswith("attention.out.weight"):
                ours[name] = ours[name].T
        return ours

    weights_renamed = weights.renamed
    monkeypatch.setattr(weights, "renamed", careless)
    ids = torch.randint(23, (2, 10))
    with torch.no_grad():
        far = (load_gpt2(folder)(ids) - theirs(ids).logits).abs().max()
    assert float(far) > 0.1


def test_names_without_a_prefix_half_precision_and_told_heads_load_too(saved, tmp_path):
    from safetensors.torch import save_file

    _, theirs = saved
    tensors = {
        k.removeprefix("transformer."): v.half().contiguous()
        for k, v in theirs.transformer.state_dict().items()
    }
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 10, 10, dtype=torch.uint8)  # a mask, as some keep
    save_file(tensors, tmp_path / "other.safetensors")
    ours = load_gpt2(tmp_path / "other.safetensors", n_head=3)
    ids = torch.randint(23, (2, 10))
    with torch.no_grad():
        torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=0.1, rtol=0.02)


def test_without_file_and_hub_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="no file"):
        load_gpt2(tmp_path / "model.safetensors")
    import huggingface_hub

    def no_network(*_, **__):
        raise ConnectionError("no route")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", no_network)
    with pytest.raises(FileNotFoundError, match=r"hub could not be asked.*path of a model"):
        load_gpt2("gpt2")


def test_a_file_that_is_no_gpt2_is_named(tmp_path):
    from safetensors.torch import save_file

    save_file({"x": torch.ones(2)}, tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="no GPT-2"):
        load_gpt2(tmp_path / "x.safetensors")


def test_the_hub_is_asked_for_both_files(saved, monkeypatch):
    import huggingface_hub

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda name, file: saved[0] / file)
    assert load_gpt2("some/name").config.n_head == 3


REAL = Path(os.environ.get("COURSE_DATA", "data")) / "gpt2" / "model.safetensors"


@pytest.mark.skipif(not REAL.exists(), reason="GPT-2's own weights are not here")
def test_the_real_weights_load_and_know_english():
    model = load_gpt2(REAL)
    assert sum(p.numel() for p in model.parameters()) == 124_439_808
    fox = [464, 2068, 7586, 21831, 18045, 625, 262, 16931]  # The quick brown fox ... the lazy
    with torch.no_grad():
        assert int(model(torch.tensor([fox]))[0, -1].argmax()) == 3290  # dog


def test_all_of_it_runs_on_the_meta_device():
    model = tiny().to("meta")
    cache = KVCache(3)
    cache.read(model, torch.zeros(2, 4, dtype=int, device="meta"))
    scores = cache.read(model, torch.zeros(2, 1, dtype=int, device="meta"))[:, -1]
    assert scores.shape == (2, 11)
    assert len(cache) == 5
    assert top_p_filter(top_k_filter(scores, 3), 0.5).device.type == "meta"


def test_the_conclusion_about_width_holds_for_twenty_seeds():
    for seed in range(20):
        found = widths_and_lengths(beam_search, seed)
        assert found["width 8"]["length"] < 0.3 * found["width 1"]["length"]
        assert found["width 8"]["log-probability"] > found["width 1"]["log-probability"] + 1
        assert found["width 8, alpha 1"]["length"] > 0.8 * found["width 1"]["length"]


def test_a_story_that_the_grammar_cannot_tell_counts_as_wrong():
    story = ["once", "mia", "the", "fox", "lived", "by", "the", "mill", "."]
    assert judged([story, ["yellow"], []])["right"] == 0


def mean(setting, key):
    runs = [kept(drawn, seed=seed, n=80)[SETTINGS.index(setting)][key] for seed in SEEDS]
    return sum(runs) / len(runs)


def test_the_page_may_say_what_heat_and_cutting_do_to_the_stories():
    fair, hot, cold = (1.0, None, None), (1.6, None, None), (0.5, None, None)
    assert mean(fair, "right") > 0.75
    assert mean(hot, "right") < 0.3
    assert mean((1.6, None, 0.9), "right") > mean(hot, "right") + 0.4
    assert mean((1.6, None, 0.9), "right") > mean((1.6, 5, None), "right")
    assert mean((1.0, None, 0.9), "right") > mean(fair, "right")
    assert mean(cold, "right") < mean((1.0, None, 0.9), "right") + 0.02
    assert mean(cold, "nats") < mean(fair, "nats") - 1.5
    assert abs(mean(fair, "nats") - entropy()) < 1.0
    assert max(kept(drawn, seed=seed, n=80)[-1]["right"] for seed in SEEDS) < 0.05


def test_the_page_may_say_that_wider_beams_find_more_probable_stories():
    found = [one for seed in SEEDS for one in kept(searched, seed=seed, n=3)]
    log_p = torch.tensor([one["log_p"] for one in found])
    assert log_p.shape == (9, len(WIDTHS))
    assert int((log_p[:, -1] > log_p[:, 0] + 1e-4).sum()) >= 5
    assert float((log_p[:, -1] - log_p[:, 0]).min()) > -1e-4
    assert all(one["drawn"] < one["log_p"][-1] for one in found)
    right = torch.tensor([one["right"] for one in found]).sum(0)
    assert float(right[-1]) <= float(right[0])


def test_the_cache_is_faster_and_the_more_so_the_longer_the_text():
    seconds = kept(one_more_token, lengths=LENGTHS, repeats=11)
    ratio = seconds["read again"].median(1).values / seconds["cached"].median(1).values
    assert ratio[-1] > 5 and ratio[-1] > 3 * ratio[0]


def test_a_hero_with_a_friend_of_the_same_name_is_seen():
    generator = torch.Generator().manual_seed(0)
    stories = [draw_story(generator)[0] for _ in range(20)]
    story = next(words for words in stories if "called" in words)
    assert not own_friend(story) and judged([story])["own friend"] == 0
    same = [*story]
    same[same.index("called") + 1] = same[1]
    assert own_friend(same) and judged([same, same[:-1], ["yellow"]])["own friend"] == 2 / 3


def test_the_figure_holds_the_odds_of_model_and_grammar():
    data = nucleus(storyteller()).data
    for place in data["places"]:
        assert sum(place["odds"]) == pytest.approx(1, abs=0.002)
        p = torch.tensor(place["scores"]).softmax(-1)
        right = p[torch.tensor(place["odds"]) > 0].sum()
        assert float(right) > 0.9


@pytest.mark.skipif(not shutil.which("node"), reason="node is not here")
def test_the_figures_cut_is_that_of_the_filters():
    import json
    import subprocess

    scores = (2 * torch.randn(12, dtype=torch.float64)).tolist()
    script = ROOT / "solutions" / "figures" / "nucleus.js"
    text = script.read_text(encoding="utf-8")
    source = text.split(IMPORT)[1].split("function render")[0]
    ask = f"""
    const scores = {json.dumps(scores)};
    const odds = heated(scores, 1.5);
    const order = [...odds.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
    console.log(JSON.stringify([[12, 1], [4, 1], [12, 0.6], [5, 0.7], [12, 0]].map(([k, p]) =>
      [...keptOf(odds, order, k, p)].sort((a, b) => a - b))));"""
    done = subprocess.run(["node", "-e", source + ask], capture_output=True, text=True, timeout=60)
    expected = []
    for k, p in ((12, 1), (4, 1), (12, 0.6), (5, 0.7), (12, 0)):
        left = top_p_filter(top_k_filter(torch.tensor(scores) / 1.5, k), p)
        expected.append((left > -math.inf).nonzero().flatten().tolist())
    assert json.loads(done.stdout) == expected
