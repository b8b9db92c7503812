"""The GPT that runs in the page: the same scores, attention and odds as Python has."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import weights_file
from browser import Page

from solutions.data.tiny_tales import (
    END,
    IDS,
    START,
    WORDS,
    draw_story,
    next_word_odds,
)
from solutions.figures.live_gpt import BEGINNINGS, live_gpt, reading
from solutions.figures.tales_script import FILE_NAME, rounded_storyteller, tales_script
from solutions.generate import top_k_filter, top_p_filter

N_STORIES = 150  # about 8,000 prefixes


@pytest.fixture(scope="module")
def engine(browser, tmp_path_factory):
    """Open a page that has loaded the script, and nothing else."""
    folder = tmp_path_factory.mktemp("engine")
    (folder / "engine.js").write_text(tales_script(), encoding="utf-8")
    page = folder / "page.html"
    page.write_text("<!doctype html><meta charset=utf-8><script src=engine.js></script>")
    browser.view(800)
    browser.open(page)
    assert browser.errors == []
    return browser


def prompts(n: int) -> list[list[int]]:
    """Draw beginnings of stories, and as many rows of any words in any order."""
    generator, chance = torch.Generator().manual_seed(7), random.Random(7)
    stories = [draw_story(generator)[0] for _ in range(n)]
    cut = [story[: chance.randint(0, len(story))] for story in stories]
    wild = [chance.choices(WORDS, k=chance.randint(1, 61)) for _ in range(n)]
    return [[IDS[START], *(IDS[word] for word in words)] for words in cut + wild]


@torch.no_grad()
def test_every_score_is_within_a_thousandth_of_pythons_with_the_same_half_precision_weights(engine):
    model, worst = rounded_storyteller(), 0.0
    for ids in prompts(60):
        got = engine.evaluate(f"[...courseTales.read({ids}).scores]")
        want = model(torch.tensor([ids]))[0]
        worst = max(worst, (torch.tensor(got).view_as(want) - want).abs().max().item())
    assert worst < 1e-3
    assert worst > 0  # they were computed twice, not copied


@torch.no_grad()
def test_half_precision_changes_no_score_by_more_than_a_few_hundredths():
    from solutions.experiments.generate import storyteller

    rough, exact = rounded_storyteller(), storyteller()
    for ids in prompts(20):
        x = torch.tensor([ids])
        assert (rough(x) - exact(x)).abs().max() < 0.05


@torch.no_grad()
def test_every_head_looks_where_pythons_looks(engine):
    model = rounded_storyteller()
    for ids in prompts(12):
        got = engine.evaluate(
            f"courseTales.read({ids}).attention.map((maps) => maps.map((map) => [...map]))"
        )
        _, want = reading(model, [WORDS[i] for i in ids[1:]])  # (L, H, T, T)
        assert torch.allclose(torch.tensor(got).view_as(want), want, atol=1e-4)


def test_the_grammar_has_pythons_odds_at_every_place_of_many_stories(engine):
    generator, checked = torch.Generator().manual_seed(5), 0
    for _ in range(N_STORIES):
        words, _ = draw_story(generator)
        got = engine.evaluate(
            f"(() => {{ const w = {json.dumps(words)};"
            "return [...w, 0].map((_, n) => courseTales.odds(w.slice(0, n)).table); })()"
        )
        for table, want in zip(got, next_word_odds(words), strict=True):
            table = {word: p for word, p in table.items() if p > 0}
            assert table == pytest.approx({w: p for w, p in want.items() if p > 0}, abs=1e-12)
            checked += 1
    assert checked > 5000


def test_the_grammar_names_the_first_word_it_would_never_say(engine):
    words, _ = draw_story(torch.Generator().manual_seed(5))
    for place in (0, 1, 7, 20, len(words) - 1):
        odd = [*words[:place], "ghost", *words[place + 1 :]]
        assert engine.evaluate(f"courseTales.odds({json.dumps(odd)})") == {"wrong": place}
    assert engine.evaluate(f"courseTales.odds({json.dumps([*words, END])})") == {"table": {END: 1}}


@torch.no_grad()
def test_the_attention_shown_before_the_weights_are_fetched_belongs_to_the_models_own_scores():
    model = rounded_storyteller()
    words = BEGINNINGS["owner"].split()
    scores, attention = reading(model, words)
    ids = torch.tensor([[IDS[START], *(IDS[word] for word in words)]])
    assert torch.allclose(scores, model(ids)[0, -1], atol=1e-5)
    assert torch.allclose(attention.sum(-1), torch.ones(attention.shape[:-1]))
    assert attention.triu(1).abs().max() == 0


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
@pytest.mark.parametrize(("k", "p"), [(112, 1), (5, 1), (112, 0.9), (7, 0.6), (112, 0), (1, 1)])
def test_temperature_and_cut_leave_what_sample_next_draws_from(engine, temperature, k, p):
    source = live_gpt("colour", small=True).source.replace("export default { render };", "")
    model = rounded_storyteller()
    for text in BEGINNINGS.values():
        scores = reading(model, text.split())[0].double()
        want = top_p_filter(top_k_filter(scores / temperature, k), p).softmax(-1)
        call = f"sharesOf({scores.tolist()}, {temperature}, {k}, {p})"
        got = engine.evaluate(f"(() => {{ {source}\nreturn {call}; }})()")
        assert torch.allclose(torch.tensor(got).double(), want, atol=1e-9)


@pytest.fixture
def page(browser, tmp_path):
    """Open a page with the whole figure and the script beside it, as in the built book."""
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / FILE_NAME).write_text(tales_script(), encoding="utf-8")
    file = tmp_path / "page.html"
    body = live_gpt("place")._repr_html_()
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    browser.view(800)
    browser.open(file)
    return browser


def type_text(page: Page, text: str) -> None:
    page.evaluate(f"""(() => {{
        const box = document.querySelector(".tale-box");
        box.value = {json.dumps(text)};
        box.dispatchEvent(new Event("input"));
    }})()""")
    assert page.until("window.courseTales")
    page.evaluate("new Promise((done) => setTimeout(done, 50))")


def press(page: Page, key: str) -> None:
    page.browser.do(page.tab.keyboard.press, key)


def shown_odds(page: Page) -> dict[str, tuple[str, str]]:
    rows = page.evaluate("""[...document.querySelectorAll(".tale-word")].map((word) =>
        [word.textContent, word.nextSibling.nextSibling.textContent,
         word.nextSibling.nextSibling.nextSibling.textContent])""")
    return {word: (model, grammar) for word, model, grammar in rows}


def message(page: Page) -> str:
    return page.evaluate("document.querySelector('.tale-message').textContent")


def test_a_page_that_is_only_read_fetches_no_weights(page):
    assert page.evaluate("window.courseTales === undefined")
    assert [address for address in page.requests if FILE_NAME in address] == []
    assert shown_odds(page)["lake"][1] == "100.0\u00a0%"
    type_text(page, "once ")
    assert len([address for address in page.requests if FILE_NAME in address]) == 1
    assert (page.errors, page.failures) == ([], [])


def test_what_is_shown_before_and_after_fetching_is_the_same(page):
    before, told = shown_odds(page), message(page)
    type_text(page, BEGINNINGS["place"] + " ")
    assert (shown_odds(page), message(page)) == (before, told)


@torch.no_grad()
def test_typing_shows_the_models_and_the_grammars_odds_of_the_next_word(page):
    text = "once mia the fox lived by the mill . she had a friend called"
    type_text(page, text + " ")
    words = text.split()
    odds = next_word_odds(words)[-1]
    p = reading(rounded_storyteller(), words)[0].softmax(-1)
    for word, shown in shown_odds(page).items():
        assert float(shown[0].rstrip("\u00a0%")) == pytest.approx(
            100 * float(p[IDS[word]]), abs=0.06
        )
        assert float(shown[1].rstrip("\u00a0%")) == pytest.approx(100 * odds.get(word, 0), abs=0.06)


def test_a_word_it_does_not_know_and_a_word_the_grammar_never_says_are_named(page):
    type_text(page, "once mia the dragon fox lived ")
    assert "\u201cdragon\u201d: not among the" in message(page)
    type_text(page, "once mia the lake ")
    assert "never says \u201clake\u201d after \u201conce mia the\u201d" in message(page)
    type_text(page, "once mia the bad")  # still being typed
    assert "allows 8 words" in message(page)


def test_the_whole_figure_works_by_keyboard(page):
    page.evaluate("document.querySelector('.tale-word').focus()")
    press(page, "Enter")
    assert page.until("document.querySelector('.tale-box').value.endsWith('danced by the lake ')")
    assert page.evaluate("document.activeElement.className") == "tale-word"
    page.evaluate("document.querySelector('.tale-knobs input').focus()")
    for _ in range(20):
        press(page, "ArrowLeft")
    assert page.evaluate("document.querySelector('.tale-knobs output').textContent") == "0.0"
    page.evaluate("document.querySelector('.tale-head input:checked').focus()")
    press(page, "ArrowRight")
    told = page.evaluate("document.querySelectorAll('.tale-message')[1].textContent")
    assert told.startswith("Layer 1, head 4,")


def test_a_story_is_written_to_its_end_and_nothing_around_it_moves(page):
    height = page.evaluate("document.querySelector('.live').offsetHeight")
    page.evaluate("document.querySelector('.tale-write').click()")
    assert page.until("document.querySelector('.tale-write').textContent === 'stop'")
    finished = "document.querySelector('.tale-write').textContent === 'write the story'"
    assert page.until(finished, 20)
    assert "The story has ended" in message(page) or "never says" in message(page)
    assert page.evaluate("document.querySelector('.live').offsetHeight") == height


def test_without_its_file_the_figure_says_what_is_missing(browser, tmp_path):
    file = tmp_path / "page.html"
    body = live_gpt("colour", small=True)._repr_html_()
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    browser.open(file)
    browser.evaluate("document.querySelector('.tale-buttons button').click()")
    assert browser.until("document.querySelector('.tale-message').textContent.includes('not load')")


def test_in_a_notebook_the_figure_brings_its_weights(browser, tmp_path):
    file = tmp_path / "page.html"
    body = live_gpt("colour", small=True, inside=True)._repr_html_()
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8")
    browser.open(file)
    browser.evaluate("document.querySelector('.tale-buttons button').click()")
    assert browser.until(
        "document.querySelector('.tale-box').value.trim().split(' ').length === 22"
    )
    assert browser.errors == []


def build_into(folder: Path) -> Path:
    """Let the Sphinx extension write its file as at the end of a build."""
    app = SimpleNamespace(outdir=str(folder), builder=SimpleNamespace(format="html"))
    weights_file.write(app, exception=None)
    return folder / "_static" / FILE_NAME


def test_a_build_writes_the_script_once_and_again_when_it_is_out_of_date(tmp_path):
    file = build_into(tmp_path)
    text = file.read_text(encoding="utf-8")
    assert text.partition("\n")[2] == tales_script()
    file.write_text(text + "// kept", encoding="utf-8")
    assert build_into(tmp_path).read_text(encoding="utf-8").endswith("// kept")
    file.write_text("// made from something else\n", encoding="utf-8")
    assert build_into(tmp_path).read_text(encoding="utf-8") == text


def test_the_script_rests_on_its_two_sources_and_the_training():
    names = {path.name for path in weights_file.rests_on()}
    wanted = {
        "tiny_gpt.js",
        "tales_grammar.js",
        "tiny_tales.py",
        "gpt_tales.py",
        "requirements.txt",
    }
    assert wanted <= names


def test_the_weights_are_a_few_hundred_kilobytes():
    assert len(tales_script()) < 350_000
