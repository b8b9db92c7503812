"""One sentence through a block: every number on the page is the model's own."""

import json

import pytest
import torch
from browser import Page

from autograder.repository import ROOT
from solutions.data.street import ID, REASONS, SUBJECTS, WORDS
from solutions.experiments.one_sentence import SEEDS, restored
from solutions.figures.sentence_stages import NAMES, STAGES
from solutions.figures.sentence_walk import sentence_walk, title_of
from solutions.studies.one_sentence import SENTENCE, sentence_ids
from solutions.studies.sentence_trace import trace

WORDS_OF = [WORDS[i] for i in sentence_ids()]
BECAUSE, ANIMAL, TOO = (WORDS_OF.index(word) for word in ("because", "animal", "too"))


@pytest.fixture(scope="module")
def tables():
    return trace(restored(), sentence_ids())


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("walk") / "page.html"
    body = sentence_walk(restored())._repr_html_()
    head = "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    path.write_text(f"{head}<body>{body}<p>below</p>", encoding="utf-8")
    return path


@pytest.fixture
def page(browser, file):
    browser.view(800)
    browser.open(file)
    assert browser.errors == []
    return browser


def press(page: Page, key: str) -> None:
    page.browser.do(page.tab.keyboard.press, key)


def choose(page: Page, stage: int, token: int, part: int = 0) -> None:
    page.evaluate(f"""(() => {{
        const [stages, tokens] = document.querySelectorAll(".walk select");
        for (const [select, value] of [[stages, {stage}], [tokens, {token}]]) {{
            select.value = value;
            select.dispatchEvent(new Event("change"));
        }}
        document.querySelectorAll(".walk fieldset input")[{part}]?.click();
    }})()""")


def shown(page: Page) -> dict[tuple[int, int], str]:
    """Return the text of every number of the output, by token and column."""
    cells = page.evaluate("""[...document.querySelectorAll(".walk [data-number]")].map((cell) =>
        [Number(cell.dataset.token), Number(cell.dataset.number),
         (cell.querySelector(".x") ?? cell).textContent])""")
    return {(t, c): text for t, c, text in cells}


def table_of(tables: dict, out: dict) -> torch.Tensor:
    table = tables[out["table"]]
    return table[out["head"]] if "head" in out else table


def test_the_walk_takes_the_models_own_steps(tables):
    model, seen = restored(), {}
    block = model.block
    modules = {
        "token": model.token,
        "start": model.position,
        "norm": block.attention_norm,
        "query": block.attention.query,
        "key": block.attention.key,
        "value": block.attention.value,
        "out": block.attention.out,
        "norm_2": block.feed_forward_norm,
        "up": block.feed_forward.up,
        "down": block.feed_forward.down,
        "end": block,
        "norm_3": model.norm,
        "word_scores": model.head,
    }
    for name, module in modules.items():
        module.register_forward_hook(lambda _, given, made, name=name: seen.update({name: made[0]}))
    inputs = {"heads": block.attention.out, "active": block.feed_forward.down}
    for name, module in inputs.items():
        module.register_forward_hook(
            lambda _, given, made, name=name: seen.update({name: given[0][0]})
        )
    block.feed_forward_norm.register_forward_hook(
        lambda _, given, made: seen.update({"middle": given[0][0]})
    )
    with torch.no_grad():
        model(sentence_ids()[None])
    assert len(seen) == 16
    for name, want in seen.items():
        assert torch.allclose(tables[name], want, atol=1e-5), name
    assert set(tables) == set(NAMES) - {"ids"}


def test_every_number_on_the_page_is_pythons(page, tables):
    compared = 0
    for n, stage in enumerate(STAGES):
        for part, out in enumerate(stage["out"]):
            if out["table"] == "ids":
                choose(page, n, 0)
                assert [int(text) for text in shown(page).values()] == sentence_ids().tolist()
                continue
            want = table_of(tables, out)
            tokens = range(len(want)) if want.size(-1) > 13 else [BECAUSE]
            found = {}
            for token in tokens:
                choose(page, n, token, part)
                found |= shown(page)
            assert len(found) == want.numel(), out
            for (t, c), text in found.items():
                if want[t, c] == -torch.inf:
                    assert text == "\u00b7"
                else:
                    number = float(text.replace("\u2212", "-").replace(",", ""))
                    assert number == pytest.approx(float(want[t, c]), abs=0.00501)
                compared += 1
    assert compared == sum(
        table_of(tables, out).numel() for s in STAGES for out in s["out"] if out["table"] != "ids"
    )


def test_every_sum_that_is_written_out_comes_to_the_models_number(page, tables):
    figure = sentence_walk(restored())
    source = figure.source.replace("export default { render };", "")
    data = json.dumps(figure.data)
    for n, stage in enumerate(STAGES[1:], 1):
        for part, out in enumerate(stage["out"]):
            want = table_of(tables, out)
            got = page.evaluate(f"""(() => {{ {source}
                const data = {data}, stage = data.stages[{n}], out = stage.out[{part}];
                return tableOf(data, out).map((row, t) =>
                    row.map((_, c) => worked(data, stage, out, t, c).value));
            }})()""")
            for t, row in enumerate(got):
                for c, value in enumerate(row):
                    if want[t, c] == -torch.inf:
                        assert value is None
                    else:
                        assert value == pytest.approx(float(want[t, c]), abs=2e-4), (n, t, c)


def test_a_written_sum_shows_its_own_terms(page, tables):
    stage = next(i for i, stage in enumerate(STAGES) if stage["title"] == "Add it to the stream")
    choose(page, stage, BECAUSE)
    a, b = (float(tables[name][BECAUSE, ANIMAL]) for name in ("start", "out"))
    told = page.evaluate("document.querySelector('.walk .sum').textContent").replace("\u2212", "-")
    second = f"({b:.2f})" if b < 0 else f"{b:.2f}"
    assert f"{a:.2f} + {second} = {a + b:.2f}." in told


def test_a_written_softmax_shows_every_power_it_divides_by(page, tables):
    stage = next(i for i, stage in enumerate(STAGES) if stage["title"] == "Scores become weights")
    choose(page, stage, BECAUSE)
    powers = tables["scores"][0, BECAUSE, : BECAUSE + 1].exp()
    told = page.evaluate("document.querySelector('.walk .sum').textContent")
    terms = " + ".join(f"{x:,.0f}" if x >= 1000 else f"{x:.2f}" for x in powers.tolist())
    assert f"\u00f7 ({terms}) = {float(tables['weights'][0, BECAUSE, ANIMAL]):.2f}." in told


def test_the_arrow_keys_walk_through_stages_and_tokens(page):
    where = "[...document.querySelectorAll('.walk select')].map((select) => Number(select.value))"
    assert page.evaluate(where) == [0, BECAUSE]
    press(page, "ArrowRight")  # with nothing in focus
    press(page, "ArrowRight")
    assert page.evaluate(where) == [2, BECAUSE]
    press(page, "ArrowLeft")
    page.evaluate("document.querySelector('.walk').focus()")
    press(page, "ArrowDown")
    press(page, "ArrowRight")
    assert page.evaluate(where) == [2, BECAUSE + 1]
    for _ in range(30):
        press(page, "ArrowRight")
        press(page, "ArrowUp")
    assert page.evaluate(where) == [len(STAGES) - 1, 0]  # it stops at the ends
    page.evaluate("document.querySelector('.walk input[type=range]').focus()")
    press(page, "ArrowRight")  # moves the slider, not the walk
    assert page.evaluate(where) == [len(STAGES) - 1, 0]


@pytest.mark.parametrize("width", [800, 360])
def test_walking_moves_nothing_below_the_figure(browser, file, width):
    browser.view(width)
    browser.open(file)
    heights = set()
    for n in range(len(STAGES)):
        for token in (1, BECAUSE, len(WORDS_OF) - 1):
            choose(browser, n, token)
            heights.add(browser.evaluate("document.querySelector('.live').offsetHeight"))
    assert len(heights) == 1
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_every_stage_names_a_lesson_of_the_book_by_its_title():
    for stage in STAGES:
        assert (ROOT / "book" / f"{stage['lesson']}.md").exists()
        assert title_of(stage["lesson"]) != stage["lesson"]


def test_at_because_a_head_looks_at_the_subject_whatever_the_seed(tables):
    for seed in SEEDS:
        weights = trace(restored(seed), sentence_ids())["weights"]
        assert weights[:, BECAUSE, ANIMAL].max() > 0.85
    scores = tables["scores"][0, BECAUSE]
    assert scores.argmax() == ANIMAL  # head 1, as the page says


def test_the_subject_decides_the_pronoun():
    model, right = restored(), 0
    for pronoun, names in SUBJECTS.items():
        for name in names:
            ids = sentence_ids(SENTENCE.replace("animal", name))
            right += int(trace(model, ids)["odds"][BECAUSE].argmax()) == ID[pronoun]
    assert right == sum(map(len, SUBJECTS.values()))


def test_the_pages_other_claims_hold(tables):
    the, again = (i for i, word in enumerate(WORDS_OF) if word == "the")
    assert torch.equal(tables["token"][the], tables["token"][again])
    assert not torch.allclose(tables["start"][the], tables["start"][again], atol=0.1)
    model = restored()
    torch.nn.init.zeros_(model.position.table.weight)
    lost = trace(model, sentence_ids())
    assert torch.allclose(lost["query"][the], lost["query"][again], atol=1e-5)
    assert tables["odds"][BECAUSE, ID["it"]] > 0.99
    assert (tables["active"][BECAUSE] > 0).sum() < tables["active"].size(-1) / 2
    reasons = tables["odds"][TOO, [ID[word] for word in REASONS]]
    assert reasons.min() > 0.8 / len(REASONS)
    assert reasons.sum() > 0.98
