"""The lesson bert: the reference beside transformers, its properties, the data, the results."""

import json
import math
import random
from collections import Counter

import pytest
import torch
from torch import nn

from solutions.bert import BERT, IGNORE, MaskedLanguageModel, mask_tokens
from solutions.data import themes, themes_odds
from solutions.data.themes import CLS, MASK, PAD, SEP, SPECIAL, encode, vocabulary
from solutions.experiments import bert_longer, kept
from solutions.experiments.bert import (
    GENTLE,
    RATES,
    RECIPE,
    baseline,
    fine_tune,
    new_bert,
    pretrain,
    pretrained,
)
from solutions.figures.gaps import STORY, divergence, gaps, groups
from solutions.fine_tune import TextClassifier, TokenClassifier
from solutions.studies.gap_practice import theme_by_place

SMALL = {"n_vocab": 37, "block_size": 13, "n_embd": 24, "n_head": 4, "n_layer": 3, "n_hidden": 40}


def drawn(module: nn.Module) -> nn.Module:
    """Give every parameter, gains and biases too, a number of its own."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(0.4 * torch.randn_like(parameter))
    return module.eval()


def theirs_from(ours: BERT) -> dict[str, torch.Tensor]:
    """Name our weights as `transformers` names those of its BertModel."""
    state = ours.state_dict()
    named = {
        "embeddings.word_embeddings.weight": state["token.weight"],
        "embeddings.position_embeddings.weight": state["position.table.weight"],
        "embeddings.token_type_embeddings.weight": state["segment.weight"],
        "embeddings.LayerNorm.weight": state["norm.gain"],
        "embeddings.LayerNorm.bias": state["norm.bias"],
    }
    parts = {
        "attention.query.": "attention.self.query.",
        "attention.key.": "attention.self.key.",
        "attention.value.": "attention.self.value.",
        "attention.out.": "attention.output.dense.",
        "attention_norm.": "attention.output.LayerNorm.",
        "feed_forward.up.": "intermediate.dense.",
        "feed_forward.down.": "output.dense.",
        "feed_forward_norm.": "output.LayerNorm.",
    }
    for layer in range(len(ours.blocks)):
        for our, their in parts.items():
            for end in ("gain", "weight", "bias"):
                key = f"blocks.{layer}.{our}{end}"
                if key in state:
                    end = "weight" if end == "gain" else end
                    named[f"encoder.layer.{layer}.{their}{end}"] = state[key]
    return named


def tiny_config(**more):
    transformers = pytest.importorskip("transformers")
    return transformers.BertConfig(
        vocab_size=37,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=40,
        max_position_embeddings=13,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        **more,
    )


def padded_ids() -> torch.Tensor:
    ids = torch.randint(1, 37, (3, 11))
    ids[1, 7:] = 0
    ids[2, 1:] = 0
    return ids


def load(theirs: nn.Module, weights: dict[str, torch.Tensor]) -> nn.Module:
    missing, unexpected = theirs.load_state_dict(weights, strict=False)
    assert not unexpected, unexpected
    assert all("position_ids" in m or "token_type_ids" in m for m in missing), missing
    return theirs.eval()


def test_bert_equals_the_bert_model_of_transformers_with_the_same_weights():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertModel(tiny_config(), add_pooling_layer=False)
    ours = drawn(BERT(**SMALL))
    load(theirs, theirs_from(ours))
    ids, segments = padded_ids(), torch.randint(0, 2, (3, 11))
    for options in ({}, {"segments": segments}):
        kinds = options.get("segments")
        with torch.no_grad():
            expected = theirs(
                input_ids=ids, attention_mask=(ids != 0).long(), token_type_ids=kinds
            ).last_hidden_state
            got = ours(ids, **options)
        real = ids != 0  # what stands at padding is nobody's business
        assert expected[real].std() > 0.1
        torch.testing.assert_close(got[real], expected[real], atol=1e-4, rtol=1e-4)


def test_the_read_out_equals_that_of_transformers():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertForMaskedLM(tiny_config())
    ours = drawn(MaskedLanguageModel(BERT(**SMALL)))
    weights = {f"bert.{k}": v for k, v in theirs_from(ours.bert).items()}
    head = "cls.predictions."
    weights |= {
        f"{head}transform.dense.weight": ours.transform.weight,
        f"{head}transform.dense.bias": ours.transform.bias,
        f"{head}transform.LayerNorm.weight": ours.norm.gain,
        f"{head}transform.LayerNorm.bias": ours.norm.bias,
        f"{head}decoder.weight": ours.bert.token.weight,
        f"{head}decoder.bias": ours.bias,
        f"{head}bias": ours.bias,
    }
    load(theirs, weights)
    ids = padded_ids()
    labels = torch.where(torch.rand(3, 11) < 0.4, torch.randint(1, 37, (3, 11)), IGNORE)
    labels[ids == 0] = IGNORE
    labels[0, 0] = 5
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=(ids != 0).long(), labels=labels)
        real = ids != 0
        torch.testing.assert_close(ours(ids)[real], expected.logits[real], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(ours.loss(ids, labels), expected.loss, atol=1e-4, rtol=1e-4)


def test_the_token_classifier_equals_that_of_transformers():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertForTokenClassification(tiny_config(num_labels=3))
    ours = drawn(TokenClassifier(BERT(**SMALL), 3))
    weights = {f"bert.{k}": v for k, v in theirs_from(ours.bert).items()}
    weights |= {"classifier.weight": ours.head.weight, "classifier.bias": ours.head.bias}
    load(theirs, weights)
    ids = padded_ids()
    with torch.no_grad():
        expected = theirs(input_ids=ids, attention_mask=(ids != 0).long()).logits
        torch.testing.assert_close(ours(ids)[ids != 0], expected[ids != 0], atol=1e-4, rtol=1e-4)


def test_padding_changes_nothing_in_either_classifier_or_pooling():
    short = torch.randint(1, 37, (2, 5))
    long = torch.cat([short, torch.zeros(2, 6, dtype=torch.long)], dim=1)
    bert = drawn(BERT(**SMALL))
    torch.testing.assert_close(bert(long)[:, :5], bert(short), atol=1e-5, rtol=1e-5)
    for pooling in ("cls", "mean"):
        model = drawn(TextClassifier(bert, 2, pooling))
        torch.testing.assert_close(model(long), model(short), atol=1e-5, rtol=1e-5)
    assert model(torch.zeros(1, 4, dtype=torch.long)).isfinite().all()
    with pytest.raises(ValueError, match="'cls' or 'mean'"):
        TextClassifier(bert, 2, "max")


def test_every_token_sees_the_words_before_and_behind_it():
    bert, ids = drawn(BERT(**SMALL)), torch.randint(1, 37, (1, 6))
    before = bert(ids)
    for place in range(6):
        changed = ids.clone()
        changed[0, place] = ids[0, place] % 36 + 1
        assert ((bert(changed) - before).abs().amax(-1) > 1e-4).all()


def test_the_words_are_read_and_written_by_one_table():
    model = MaskedLanguageModel(BERT(**SMALL))
    tables = [p for p in model.parameters() if p.shape == (37, 24)]
    assert len(tables) == 1 and tables[0] is model.bert.token.weight


def test_no_label_no_loss_and_only_labelled_places_count():
    model, ids = drawn(MaskedLanguageModel(BERT(**SMALL))), padded_ids()
    nothing = torch.full_like(ids, IGNORE)
    assert model.loss(ids, nothing).item() == 0
    labels = nothing.clone()
    labels[0, 2], labels[1, 3] = 4, 9
    scores = model(ids).log_softmax(-1)
    by_hand = -(scores[0, 2, 4] + scores[1, 3, 9]) / 2
    torch.testing.assert_close(model.loss(ids, labels), by_hand)


def test_masking_has_the_shares_it_promises():
    ids = torch.randint(4, 50, (400, 500))
    ids[:, 0] = CLS
    draws = torch.rand(3, 400, 500, generator=torch.Generator().manual_seed(0))
    read, labels = mask_tokens(ids, draws, 50, 4, MASK)
    chosen = labels != IGNORE
    n = int(chosen.sum())

    def within(count, of, p):
        return abs(count / of - p) < 5 * math.sqrt(p * (1 - p) / of)

    assert within(n, 400 * 499, 0.15)
    assert within(int((read == MASK).sum()), n, 0.8)
    # one random token in 46 is the old one
    assert within(int((chosen & (read == ids)).sum()), n, 0.1 + 0.1 / 46)
    assert not chosen[:, 0].any() and (read[chosen & (read != MASK)] >= 4).all()
    assert (labels[chosen] == ids[chosen]).all() and (read[~chosen] == ids[~chosen]).all()


def test_everything_runs_on_the_meta_device():
    ids = torch.zeros(2, 5, dtype=torch.long, device="meta")
    bert = BERT(**SMALL).to("meta")
    assert bert(ids).shape == (2, 5, 24)
    model = MaskedLanguageModel(bert).to("meta")
    assert model(ids).shape == (2, 5, 37) and model.loss(ids, ids).shape == ()
    assert TextClassifier(bert, 2, "mean").to("meta")(ids).shape == (2, 2)
    assert TokenClassifier(bert, 3).to("meta")(ids).shape == (2, 5, 3)
    read, labels = mask_tokens(ids, torch.rand(3, 2, 5, device="meta"), 37, 4, 3)
    assert read.device.type == labels.device.type == "meta"


def test_the_word_lists_are_as_long_as_the_page_says_and_share_no_word():
    lists = [words for pair in themes.THEME.values() for words in pair]
    for theme in (0, 1):
        assert sum(len(pair[theme]) for pair in themes.THEME.values()) == 80
    lists += [words for pair in themes.MOOD.values() for words in pair]
    lists += [*themes.EVERYDAY.values(), list(themes.SEVERAL_TAGS)]
    count = Counter(word for words in lists for word in words)
    assert max(count.values()) == 1


def test_the_choices_of_every_slot_sum_to_one():
    for slot in ("NOUN", "TRANSITIVE", "INTRANSITIVE", "ADJECTIVE", "WHEN", "HOW", "FEELING"):
        for switches in themes_odds.SWITCHES:
            assert sum(themes.choices(slot, *switches).values()) == pytest.approx(1)


def test_a_word_of_several_tags_stands_under_each_of_them():
    texts, places = themes.draw_tagged(3000, 5)
    seen = {}
    for text, place in zip(texts, places, strict=True):
        seen.setdefault(text.words[place], set()).add(themes.tag(text, place))
    for word, slots in themes.SEVERAL_TAGS.items():
        assert seen[word] == {themes.TAG_OF[slot] for slot in slots}, word
    sentence = ["light", "rose", "slowly", "today", "."]
    readings = themes_odds.readings(sentence)
    possible = [r for r in readings if themes_odds.likelihood(sentence, r, 0, 0) > 0]
    assert possible == [["NOUN", "INTRANSITIVE", "HOW", "WHEN", "."]]


def test_encoding_puts_cls_first_sep_last_and_padding_behind():
    ids = encode([["please", "boat", "."], ["please", "."]])
    assert (
        ids[:, 0].tolist() == [CLS, CLS]
        and ids[0, -1] == SEP
        and ids[1, -2:].tolist() == [SEP, PAD]
    )
    assert [vocabulary()[i] for i in ids[0, 1:4]] == ["please", "boat", "."]
    assert vocabulary()[: len(SPECIAL)] == SPECIAL and len(set(vocabulary())) == len(vocabulary())


def test_the_exact_odds_are_what_counting_finds():
    """Draw many notes and count, among those that fit the question, what stands in the gap."""
    rng, counts = random.Random(3), Counter()
    for _ in range(60_000):
        words = themes.draw_text(rng, ["tale"]).words
        if words[1] == "rose" and words[0] != "please":
            counts[words[0]] += 1
    total = sum(counts.values())
    assert total > 1500
    odds = themes_odds.posterior(["?", "rose", "?", "?", "."])[0]
    assert sum(odds.values()) == pytest.approx(1) and counts.keys() <= odds.keys()
    for word, p in odds.items():
        if word != "please":
            rest = p / (1 - odds.get("please", 0))
            margin = 5.5 * math.sqrt(rest * (1 - rest) / total) + 1 / total
            assert abs(counts[word] / total - rest) < margin, word


def test_one_telling_word_settles_the_theme_and_the_odds_by_hand_agree():
    nothing = ["?", "came", "near", "friend", "."]
    assert themes_odds.switch_odds(nothing)[0, 0] == pytest.approx(0.25)
    odds = themes_odds.posterior(nothing)[0]
    weight = (1 / 7) / sum(1 / (7 + rank) for rank in range(40))
    assert odds["harbour"] == pytest.approx(0.75 * weight / 2)
    told = themes_odds.posterior(["?", "sailed", "near", "friend", "."])[0]
    assert told["harbour"] == pytest.approx(0.75 * weight) and "barn" not in told
    with pytest.raises(ValueError, match="cannot say"):
        themes_odds.posterior(["boat", "grazed", "near", "?", "."])


def test_a_mood_word_settles_the_mood_and_leaves_the_theme_open():
    odds = themes_odds.switch_odds(["felt", "merry", ".", "?", "came", "near", "friend", "."])
    assert odds[0, 0] == odds[1, 0] == pytest.approx(0.5) and odds[0, 1] == 0


def test_sentences_for_the_label_hold_as_many_telling_words_as_asked():
    for n_cue in (1, 2, 3):
        texts = themes.draw_sentences(50, 3, n_cue)
        assert {text.cues() for text in texts} == {n_cue}
        assert {text.theme for text in texts} == {0, 1}


def best(task: str, n_cue: int, start: str) -> torch.Tensor:
    """Return the right shares per seed at the rate that is best for this start."""
    tried = [kept(fine_tune, task=task, n_cue=n_cue, start=start, rate=r) for r in RATES]
    return torch.tensor(max(tried, key=sum))


def by_counting(task: str, n_cue: int) -> torch.Tensor:
    return torch.tensor(kept(baseline, task=task, n_cue=n_cue)["words"])


@pytest.mark.parametrize("n_cue", [1, 2])
def test_with_50_labels_pretraining_wins_on_the_theme_by_far(n_cue):
    pre, scratch = (best("theme", n_cue, start) for start in ("pre-trained", "scratch"))
    assert len(pre) == 3
    assert pre.mean() > scratch.mean() + 0.20
    assert pre.mean() > by_counting("theme", n_cue).mean() + 0.10
    assert pre.min() > scratch.max() and pre.min() > by_counting("theme", n_cue).max()


def test_on_the_mood_the_naive_label_pretraining_hurts():
    pre, scratch = (best("mood", 3, start).mean() for start in ("pre-trained", "scratch"))
    assert pre < scratch - 0.10
    gentle = torch.tensor(kept(fine_tune, task="mood", n_cue=3, start="pre-trained", rate=GENTLE))
    assert gentle.max() < by_counting("mood", 3).min()
    assert min(kept(baseline, task="mood", n_cue=3)["told"]) > 0.98  # fifty labels are enough


def test_pretraining_helps_to_tag_words_whose_tag_depends_on_context():
    pre, scratch = (best("tag", 1, start).mean() for start in ("pre-trained", "scratch"))
    assert pre > scratch + 0.05 and pre > by_counting("tag", 1).mean()


def test_three_times_the_pretraining_fills_gaps_better_and_finds_the_mood_less_often():
    ends = [
        kept(pretrain, steps=steps, seed=0)["loss"][-100:].mean()
        for steps in (RECIPE.steps, bert_longer.STEPS)
    ]
    assert ends[1] < ends[0] - 0.03
    for rate in (*RATES, GENTLE):
        short = kept(fine_tune, task="mood", n_cue=3, start="pre-trained", rate=rate)
        assert sum(kept(bert_longer.mood, rate=rate)) < sum(short)


def test_the_pretrained_model_has_found_the_theme_and_not_the_mood():
    model = pretrained()
    shares = {}
    for place, name in ((5, "sea"), (11, "glad")):
        ids = encode([STORY.split()])
        ids[0, place + 1] = MASK
        with torch.no_grad():
            odds = model(ids)[0, place + 1].softmax(-1)
        other = {"sea": "farm", "glad": "sad"}[name]
        mine, theirs = (float(odds[groups()[n]].sum()) for n in (name, other))
        shares[name] = mine / (mine + theirs)
    assert shares["sea"] > 0.9 and 0.25 < shares["glad"] < 0.75


def test_the_divergence_is_zero_for_the_exact_odds_and_as_computed_by_hand_otherwise():
    exact = torch.tensor([0.5, 0.5, 0.0])
    assert divergence(exact, exact) == 0
    by_hand = 0.5 * math.log(0.5 / 0.25) * 2
    assert float(divergence(exact, torch.tensor([0.25, 0.25, 0.5]))) == pytest.approx(by_hand)


def test_the_conclusion_of_the_notebook_holds_for_twenty_seeds():
    for seed in range(20):
        found = theme_by_place(BERT, MaskedLanguageModel, mask_tokens, seed)
        assert min(found["one hidden"]) > 0.92 and 0.35 < found["all hidden"] < 0.65


def test_the_figure_shows_the_models_and_the_grammars_odds_for_what_is_hidden(browser, tmp_path):
    torch.manual_seed(0)
    page, figure = tmp_path / "page.html", gaps(MaskedLanguageModel(new_bert()).eval())
    assert len(figure._repr_html_()) < 600_000
    head = '<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width">'
    body = f"{head}<body>{figure._repr_html_()}</body>"
    page.write_text(body, encoding="utf-8")
    browser.view(375)
    browser.open(page)

    def count(selector):
        return browser.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    assert count(".gap") == 1  # one word is hidden at the start
    browser.evaluate("document.querySelectorAll('.word')[0].click()")
    assert count(".gap") == 2 and count(".word[aria-pressed=true]") == 2
    text = figure.data["texts"][0]
    shown = text["answers"][f"{text['canHide'][0]},{text['canHide'][-1]}"]
    first = browser.evaluate("document.querySelector('.gap').textContent")
    for i, exact, guess in shown[0]["words"]:
        assert f"{vocabulary()[i]}{exact / 10:.1f}{guess / 10:.1f}" in first
    browser.evaluate("document.querySelector('.controls button').click()")
    assert count(".gap") == 0
    assert "No word is hidden" in browser.evaluate("document.querySelector('.message').textContent")
    wide = browser.evaluate("document.documentElement.scrollWidth")
    assert wide <= 375 and browser.errors == []
