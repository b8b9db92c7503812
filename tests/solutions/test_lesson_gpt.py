"""The lesson gpt: the model beside `transformers`, the grammar's exact odds, the page's results."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from solutions.data.tiny_shakespeare import text
from solutions.data.tiny_tales import (
    DEEDS,
    END,
    ENDINGS,
    FEELINGS,
    LENGTH,
    MOODS,
    PREFERENCE,
    WORDS,
    draw_stories,
    draw_story,
    entropy,
    next_word_odds,
    story_nats,
    tell,
)
from solutions.experiments import kept
from solutions.experiments.gpt import SEEDS, pieces, shakespeare, tales
from solutions.figures.next_word import divergence, model_odds, next_word
from solutions.gpt import GPT, GPTConfig, n_parameters, next_token_loss, perplexity, train_step
from solutions.gpt_block import FastAttention
from solutions.multi_head import MultiHeadAttention
from solutions.queries_keys_values import causal_mask
from solutions.studies.ngrams import NGram
from solutions.studies.shakespeare_recipes import EARLIER, GPU, LATER, N_CHARACTERS
from solutions.studies.tales_model import CONFIG, PAD, gap, held_out, words_of
from solutions.studies.text_windows import character_ids, continue_text, split, windows

TINY = GPTConfig(11, block_size=7, n_layer=3, n_head=2, n_embd=12, activation="gelu_tanh")


def drawn(config: GPTConfig) -> GPT:
    """Give every parameter, gains and biases too, a number of its own."""
    torch.manual_seed(0)
    model = GPT(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.5 * torch.randn_like(parameter) + 0.1)
    return model.eval()


def transformers_twin(ours: GPT):
    """Build GPT-2 in `transformers` with the weights of ours: its matrices are stored (in, out)."""
    from transformers import GPT2Config, GPT2LMHeadModel

    c = ours.config
    marks = {"bos_token_id": 0, "eos_token_id": 0}
    sizes = {"n_embd": c.n_embd, "n_layer": c.n_layer, "n_head": c.n_head}
    config = GPT2Config(vocab_size=c.vocab_size, n_positions=c.block_size, **sizes, **marks)
    theirs = GPT2LMHeadModel(config).eval()
    state = {
        "transformer.wte.weight": ours.token.weight,
        "transformer.wpe.weight": ours.position.table.weight,
        "transformer.ln_f.weight": ours.norm.weight,
        "transformer.ln_f.bias": ours.norm.bias,
        "lm_head.weight": ours.head.weight,
    }
    for i, block in enumerate(ours.blocks):
        at, attention = f"transformer.h.{i}.", block.attention
        pairs = {"attn.c_attn": attention.project, "attn.c_proj": attention.out}
        pairs |= {"mlp.c_fc": block.feed_forward.up, "mlp.c_proj": block.feed_forward.down}
        for name, layer in pairs.items():
            state[at + name + ".weight"], state[at + name + ".bias"] = layer.weight.T, layer.bias
        for name, norm in {"ln_1": block.attention_norm, "ln_2": block.feed_forward_norm}.items():
            state[at + name + ".weight"], state[at + name + ".bias"] = norm.weight, norm.bias
    theirs.load_state_dict({k: v.detach().clone() for k, v in state.items()})
    return theirs


def test_the_model_and_its_loss_and_gradients_equal_those_of_transformers():
    ours = drawn(TINY)
    theirs = transformers_twin(ours)
    ids = torch.randint(11, (3, 7))
    torch.testing.assert_close(ours(ids), theirs(ids).logits, atol=2e-5, rtol=2e-5)
    mine, other = next_token_loss(ours, ids), theirs(ids, labels=ids).loss
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-5)
    mine.backward()
    other.backward()
    found, expected = ours.token.weight.grad, theirs.transformer.wte.weight.grad
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_the_fast_attention_is_the_attention_of_multi_head():
    fast = drawn(TINY).blocks[0].attention
    plain = MultiHeadAttention(12, 2, bias=True)
    state = {f"out.{k}": v for k, v in fast.out.state_dict().items()}
    for kind, wide in fast.project.state_dict().items():
        rows = zip(("query", "key", "value"), wide.chunk(3), strict=True)
        state |= {f"{name}.{kind}": part for name, part in rows}
    plain.load_state_dict(state)
    x, mask = torch.randn(2, 5, 12), causal_mask(5)
    torch.testing.assert_close(fast(x, mask), plain(x, mask=mask), atol=1e-5, rtol=1e-5)


def test_a_width_that_heads_cannot_share_gets_a_sentence():
    with pytest.raises(ValueError, match="n_embd=10 cannot be shared among 4 heads"):
        GPTConfig(11, n_head=4, n_embd=10)


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_a_later_token_never_changes_an_earlier_score(positions):
    model = drawn(replace(TINY, positions=positions, n_embd=16))
    ids = torch.randint(11, (2, 7))
    changed = ids.clone()
    changed[:, 4] = (changed[:, 4] + 1) % 11
    before, after = model(ids), model(changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert (before[:, 4:] - after[:, 4:]).abs().amax(-1).min() > 1e-3


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_the_attention_gives_the_same_in_pieces_with_a_cache(positions):
    class Cache:
        k = v = torch.zeros(2, 2, 0, 8)

        def extend(self, k, v):
            self.k, self.v = torch.cat([self.k, k], -2), torch.cat([self.v, v], -2)
            return self.k, self.v

    attention = FastAttention(replace(TINY, positions=positions, n_embd=16))
    x, cache = torch.randn(2, 6, 16), Cache()
    parts, start = [], 0
    for n in (3, 1, 2):
        mask = causal_mask(n, start + n)
        parts.append(attention(x[:, start : start + n], mask, start, cache))
        start += n
    torch.testing.assert_close(torch.cat(parts, 1), attention(x, causal_mask(6)))


def test_the_published_sizes_come_out():
    sizes = {
        (50257, 1024, 12, 12, 768): 124_439_808,
        (50257, 1024, 48, 25, 1600): 1_557_611_200,
        (50257, 2048, 96, 96, 12288): 174_604_259_328,
        (30522, 512, 24, 16, 1024): 335_141_888 - 1024**2 - 3 * 1024,  # no pooler, no segments
    }
    for (v, t, layers, heads, c), expected in sizes.items():
        assert n_parameters(GPTConfig(v, t, n_layer=layers, n_head=heads, n_embd=c)) == expected


@pytest.mark.parametrize("tied", [True, False])
def test_the_count_is_that_of_the_built_model(tied):
    for positions, norm in product(["learned", "rotary"], ["layer", "rms"]):
        config = replace(TINY, tied=tied, positions=positions, norm=norm)
        assert n_parameters(config) == sum(p.numel() for p in GPT(config).parameters())


def test_new_weights_have_the_asked_spread_and_quiet_last_matrices():
    torch.manual_seed(0)
    config = GPTConfig(300, n_layer=8, n_embd=64, std=0.07)
    block = GPT(config).blocks[3]
    assert float(block.attention.project.weight.detach().std()) == pytest.approx(0.07, rel=0.05)
    for last in (block.attention.out, block.feed_forward.down):
        assert float(last.weight.detach().std()) == pytest.approx(0.07 / 4, rel=0.05)
        assert (last.bias == 0).all()


def test_an_untrained_model_guesses_evenly():
    torch.manual_seed(0)
    loss = next_token_loss(GPT(GPTConfig(65)), torch.randint(65, (4, 65)))
    assert float(loss.detach()) == pytest.approx(math.log(65), abs=0.1)


def test_a_step_lowers_the_loss_and_padding_and_perplexity_count_tokens():
    torch.manual_seed(0)
    model = GPT(TINY)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    ids = torch.randint(1, 11, (8, 8))
    losses = [train_step(model, optimiser, ids) for _ in range(30)]
    assert losses[-1] < 0.6 * losses[0]
    padded = torch.cat([ids, torch.zeros(8, 3, dtype=torch.long)], 1)
    model = GPT(replace(TINY, block_size=10))
    torch.testing.assert_close(next_token_loss(model, padded, 0), next_token_loss(model, ids))
    assert float(perplexity(torch.tensor([0.0, math.log(16)]), torch.tensor([30, 10]))) == 2.0


def test_everything_runs_on_the_meta_device():
    for config in (TINY, replace(TINY, positions="rotary", norm="rms", n_embd=16)):
        ids = torch.zeros(2, 6, dtype=torch.long, device="meta")
        model = GPT(config).to("meta")
        assert model(ids).shape == (2, 6, 11)
        assert next_token_loss(model, ids).shape == ()


def some_stories(n: int, seed: int = 0) -> list[list[str]]:
    generator = torch.Generator().manual_seed(seed)
    return [draw_story(generator)[0] for _ in range(n)]


def test_the_odds_of_every_word_sum_to_one_and_the_story_had_a_chance():
    for words in some_stories(40):
        for table, word in zip(next_word_odds(words), [*words, END], strict=True):
            assert sum(table.values()) == pytest.approx(1.0) and table[word] > 0
            assert all(candidate in WORDS for candidate in table)


def test_the_odds_are_those_of_both_moods_weighed_by_what_they_explain():
    for words in some_stories(40, seed=1):
        chance = 0.0
        for mood in MOODS:
            teller, p = tell(mood), 0.5
            odds = next(teller)
            for i, word in enumerate(words):
                p *= odds[word]
                odds = teller.send(word) if i + 1 < len(words) else {END: 1.0}
            chance += p
        assert story_nats(words) == pytest.approx(-math.log(chance))


def test_the_exact_entropy_is_the_mean_surprise():
    sums = [
        -sum(p * math.log(p) for table in next_word_odds(words) for p in table.values())
        for words in some_stories(1500, seed=2)
    ]
    sums = torch.tensor(sums)
    error = float(sums.std()) / math.sqrt(len(sums))
    assert abs(float(sums.mean()) - entropy()) < 4 * error < 0.08


def test_the_mood_shows_in_the_ending_once_it_has_spoken():
    for words in some_stories(60, seed=3):
        glad = [words_list.index(word) < 4 for words_list in (FEELINGS, DEEDS) for word in words
                if word in words_list]  # fmt: skip
        share = sum(next_word_odds(words)[-3].get(word, 0.0) for word in ENDINGS[:4])
        strong = PREFERENCE**2 / (PREFERENCE**2 + 1)
        belief = {2: strong, 1: 0.5, 0: 1 - strong}[sum(glad)]
        expected = belief * PREFERENCE / (PREFERENCE + 1) + (1 - belief) / (PREFERENCE + 1)
        assert share == pytest.approx(expected)


def test_stories_fit_their_rows_and_read_back():
    (ids,) = draw_stories(300, torch.Generator().manual_seed(4))
    assert ids.shape == (300, LENGTH)
    lengths = [len(words_of(row)) + 2 for row in ids]
    assert max(lengths) == LENGTH
    with pytest.raises(ValueError, match="never says"):
        next_word_odds(["once", "upon"])


def test_an_ngram_knows_what_always_follows():
    model = NGram(3, 5, [[0, 1, 2, 3]] * 400 + [[0, 4, 2, 1]] * 400)
    assert model.probability(3, (1, 2)) > 0.99 and model.probability(1, (4, 2)) > 0.99
    assert sum(model.probability(t, (3, 3)) for t in range(5)) == pytest.approx(1.0)


def test_windows_stay_inside_the_text_and_reach_both_ends():
    ids = torch.arange(20)
    (drawn_windows,) = windows(ids, 7)(2000, torch.Generator().manual_seed(0))
    assert drawn_windows.shape == (2000, 8) and (drawn_windows.diff(dim=1) == 1).all()
    assert drawn_windows.min() == 0 and drawn_windows.max() == 19
    first, second = split(ids)
    assert len(first) == 18 and len(second) == 2


def test_the_recipes_fit_the_text():
    ids, alphabet = character_ids(text())
    assert len(alphabet) == N_CHARACTERS and "".join(alphabet[i] for i in ids[:5]) == "First"
    (small, one), (later, two), (large, _) = EARLIER, LATER, GPU
    assert (one.batch, small.block_size) == (two.batch, later.block_size)
    assert two.steps <= one.steps
    assert n_parameters(later) <= n_parameters(small) < 0.82e6
    assert 10.6e6 < n_parameters(large) < 10.9e6


def test_a_text_longer_than_the_window_can_be_continued():
    model = drawn(TINY)
    drawn_ids = continue_text(model, [1, 2], 12, 7, torch.Generator().manual_seed(0))
    assert len(drawn_ids) == 14 and drawn_ids[:2] == [1, 2]


def test_the_gap_of_the_grammar_itself_is_zero():
    ids, nats = held_out(20, seed=5)

    class Grammar(torch.nn.Module):
        def forward(self, rows):
            scores = torch.full((*rows.shape, len(WORDS)), -torch.inf)
            for row, full in zip(scores, ids, strict=True):
                for t, table in enumerate(next_word_odds(words_of(full))):
                    for word, p in table.items():
                        row[t, WORDS.index(word)] = math.log(p)
            return scores

    found = gap(Grammar(), ids, nats)
    assert abs(found["story"]) < 1e-4 and abs(found["token"]) < 1e-5


def test_tales_come_within_a_hundredth_of_a_nat_a_token_and_one_nat_a_story():
    for seed in SEEDS:
        final = kept(tales, std=0.08, seed=seed)["final"]
        assert -0.002 < final["token"] < 0.01 and final["story"] < 1.0


def test_the_quiet_start_is_behind_and_few_stories_are_learned_by_heart():
    good = kept(tales, std=0.08, seed=0)["final"]["token"]
    assert kept(tales, std=0.02, seed=0)["final"]["token"] > 3 * good
    few = kept(tales, std=0.08, seed=0, stories=300, steps=500)
    assert few["final"]["token"] > min(s["token"] for s in few["scores"]) + 0.02
    assert float(few["loss"][-100:].mean()) < entropy() / 59.2  # below the floor: by heart


def test_shakespeare_reaches_what_was_promised():
    assert kept(shakespeare, recipe="earlier")["validation"] <= 1.90
    assert kept(shakespeare, recipe="later")["validation"] <= 1.80


def test_pieces_are_compared_in_bits_a_character():
    found = kept(pieces, n_vocab=512, steps=400)
    assert found["bits"] == pytest.approx(found["nats"] / found["characters"] / math.log(2))
    assert found["characters"] > 1.8 and found["bits"] < 2.7


def test_the_figure_shows_the_odds_and_the_divergence_of_the_chosen_word(browser, tmp_path):
    torch.manual_seed(0)
    models = {"one": GPT(CONFIG).eval(), "other": GPT(replace(CONFIG, std=0.5)).eval()}
    figure = next_word(models, n_stories=2)
    page = tmp_path / "page.html"
    body = figure._repr_html_()
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
    browser.view(375)
    browser.open(page)
    words = figure.data["stories"][0]["words"]
    place = words.index("felt") + 1
    odds, guess = next_word_odds(words[:-1])[place], model_odds(models["other"], words[:-1])[place]
    browser.evaluate("document.querySelectorAll('input[type=radio]')[1].click()")
    message = browser.evaluate("document.querySelector('.message').textContent")
    assert f"loses {divergence(odds, guess):.3f} nats" in message and words[place] in message
    browser.evaluate(
        """(() => { const s = document.querySelector('input[type=range]'); s.value = 0;
            s.dispatchEvent(new Event('input')); })()"""
    )
    assert browser.evaluate("document.querySelector('.token.now span').textContent") == "once"
    shown = browser.evaluate("document.querySelector('.candidates .odds').textContent")
    assert shown.startswith("1.000")
    assert browser.errors == []


def test_padding_is_not_a_word_of_a_story():
    (ids,) = draw_stories(5, torch.Generator().manual_seed(6))
    ends = (ids == WORDS.index(END)).int().argmax(-1)
    for row, end in zip(ids, ends.tolist(), strict=True):
        assert (row[: end + 1] != PAD).all() and (row[end + 1 :] == PAD).all()
