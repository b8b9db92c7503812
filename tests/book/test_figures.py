"""Interactive figures: drawn with no kernel and no network, from one .js file."""

import json
import tomllib
from pathlib import Path

import pytest
import torch
from browser import Page

from autograder.repository import ROOT
from solutions.figures.figure import Figure
from solutions.figures.softmax_table import softmax_table

PNG = bytes.fromhex("89504e470d0a1a0a")
SHOW_DATA = """function render({ model, el }) {
  el.append(model.get("data").text);
}
export default { render };
"""
WEIGHTS = """[...document.querySelectorAll(".weights tr")].slice(0, -1).map(
    (row) => [...row.querySelectorAll(".cell")].map((cell) => cell.textContent))"""


def show(browser: Page, folder: Path, *figures: Figure) -> None:
    page = folder / "page.html"
    body = "\n".join(figure._repr_html_() for figure in figures)
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}</body>", encoding="utf-8")
    browser.view(800)
    browser.open(page)


def click(browser: Page, text: str) -> None:
    browser.evaluate(f"""[...document.querySelectorAll("button, label")].find(
        (control) => control.textContent === {json.dumps(text)}).click()""")


def small_figure(folder: Path, text: str) -> Figure:
    script = folder / "show.js"
    script.write_text(SHOW_DATA)
    return Figure(script, {"text": text}, still=PNG, alt="A small figure.")


def test_several_figures_on_one_page_keep_their_own_data_even_when_equal(browser, tmp_path):
    texts = ["one", "two", "one"]
    show(browser, tmp_path, *(small_figure(tmp_path, text) for text in texts))
    drawn = "[...document.querySelectorAll('[data-drawn] > .live')].map((el) => el.textContent)"
    assert browser.evaluate(drawn) == texts
    assert browser.errors == []


def test_data_cannot_end_the_script_early(browser, tmp_path):
    text = "</script><b>bold</b><!-- & 'quotes' \"double\" \u2028"
    show(browser, tmp_path, small_figure(tmp_path, text))
    assert browser.evaluate("document.querySelector('.live').textContent") == text
    assert browser.evaluate("document.querySelectorAll('b').length") == 0


def test_a_script_that_could_not_be_inlined_is_refused(tmp_path):
    script = tmp_path / "bad.js"
    script.write_text("export function render() {}")
    with pytest.raises(ValueError, match="must stand in it once"):
        Figure(script, {}, PNG, "")
    script.write_text('import { element } from "./elements.js";\n' + SHOW_DATA)
    with pytest.raises(ValueError, match="can load nothing"):
        Figure(script, {}, PNG, "")
    script.write_text(SHOW_DATA + "// </script>")
    with pytest.raises(ValueError, match="would end the page's script early"):
        Figure(script, {}, PNG, "")


def test_paper_and_pages_without_scripts_show_the_still_only(browser, chromium, tmp_path):
    seen = "['live', 'still'].filter((name) => document.querySelector('.' + name).offsetHeight)"
    show(browser, tmp_path, softmax_table())
    assert browser.evaluate(seen) == ["live"]
    browser.view(800, print_=True)
    assert browser.evaluate(seen) == ["still"]
    without = chromium.page(scripts=False)
    show(without, tmp_path, softmax_table())
    assert without.evaluate(seen) == ["still"]
    without.close()


def test_a_widget_is_made_from_the_same_script_and_data(tmp_path):
    figure = small_figure(tmp_path, "hello")
    widget = figure.widget()
    assert str(widget._esm) == SHOW_DATA
    assert widget.data == {"text": "hello"}


def test_a_figure_and_its_widget_are_given_the_elements_they_import(browser, tmp_path):
    script = tmp_path / "show.js"
    head = 'import { element } from "./element.js";\n'
    made = 'element("b", { className: "new", label: "a name" }, "bo", "ld")'
    script.write_text(head + SHOW_DATA.replace("el.append(", f"el.append({made}, "))
    figure = Figure(script, {"text": ""}, still=PNG, alt="A small figure.")
    show(browser, tmp_path, figure)
    drawn = "[...document.querySelectorAll('b.new')].map((b) => [b.textContent, b.ariaLabel])"
    assert browser.evaluate(drawn) == [["bold", "a name"]]
    # a widget's text is imported as a module, with no address to load others from
    text = json.dumps(str(figure.widget()._esm))
    browser.evaluate(f"""(async () => {{
        const module = new Blob([{text}], {{ type: "text/javascript" }});
        const {{ render }} = (await import(URL.createObjectURL(module))).default;
        render({{ model: {{ get: () => ({{ text: "" }}) }}, el: document.body }});
    }})()""")
    assert browser.evaluate(drawn) == [["bold", "a name"]] * 2


def test_no_figure_has_a_copy_of_what_all_share():
    scripts = (ROOT / "solutions" / "figures").glob("*.js")
    having = [script.name for script in scripts if "function element(" in script.read_text()]
    assert having == ["element.js"]


@pytest.mark.parametrize(
    ("axis", "dim"), [("each row", 1), ("each column", 0), ("the whole table", None)]
)
@pytest.mark.parametrize("subtract", [True, False])
@pytest.mark.parametrize("scores", [[[2, 1, 0], [-1, 3, 1]], [[87, 88, 60], [-104, 5, 100]]])
def test_the_softmax_table_computes_as_torch_does(browser, tmp_path, axis, dim, subtract, scores):
    show(browser, tmp_path, softmax_table([[float(x) for x in row] for row in scores]))
    click(browser, axis)
    if not subtract:
        click(browser, "subtract the maximum first")
    x = torch.tensor(scores, dtype=torch.float32)
    sum_of = (lambda t: t.sum()) if dim is None else (lambda t: t.sum(dim, keepdim=True))
    top = x.max() if dim is None else x.amax(dim, keepdim=True)
    e = (x - top if subtract else x).exp()
    want = [["NaN" if w != w else f"{w:.3f}" for w in row] for row in (e / sum_of(e)).tolist()]
    assert browser.evaluate(WEIGHTS) == want


def test_one_cell_at_1000_breaks_the_softmax_only_without_the_subtraction(browser, tmp_path):
    show(browser, tmp_path, softmax_table())
    click(browser, "one cell to 1000")
    assert browser.evaluate(WEIGHTS)[0] == ["1.000", "0.000", "0.000"]
    assert browser.evaluate("document.querySelectorAll('.broken').length") == 0
    click(browser, "subtract the maximum first")
    assert browser.evaluate(WEIGHTS)[0] == ["NaN", "0.000", "0.000"]
    assert browser.evaluate("document.querySelectorAll('.broken').length") == 3
    assert "inf / inf is NaN" in browser.evaluate("document.querySelector('.message').textContent")


def test_every_file_of_a_figure_is_part_of_the_installed_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["solutions"]
    packed = {path for pattern in patterns for path in (ROOT / "solutions").glob(pattern)}
    files = (ROOT / "solutions" / "figures").glob("*.*")
    assert {file for file in files if file.suffix != ".py"} <= packed
