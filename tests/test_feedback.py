"""What a learner wrote is shown in pages, and nothing of it is run there."""

import pytest

from autograder.feedback import _rendered


@pytest.mark.parametrize(
    "source",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<b onclick='alert(1)'>b</b>",
        "[a](javascript:alert(1))",
        "[a](&#106;avascript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "<a href=' java\tscript:alert(1)'>a</a>",
        "<svg onload=alert(1)><animate onbegin=alert(1)></svg>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<form action='javascript:alert(1)'><input type=submit></form>",
        "<details open ontoggle=alert(1)>x</details>",
        "<style>body { display: none }</style>",
        "<base href='//elsewhere'><meta http-equiv=refresh content='0;url=//elsewhere'>",
        "```html\n<script>alert(1)</script>\n```",
    ],
)
def test_nothing_that_runs_is_left(source):
    from bs4 import BeautifulSoup

    page = BeautifulSoup(_rendered(source, {}), "html.parser")
    kinds = {tag.name for tag in page.find_all(True)}
    assert not kinds & {"script", "style", "iframe", "svg", "form", "input", "base", "meta"}
    for tag in page.find_all(True):
        for name, value in tag.attrs.items():
            assert not name.startswith("on")
            assert "script:" not in str(value) and "data:text" not in str(value)


def test_text_tables_code_and_pictures_stay():
    shown = _rendered(
        "# Why\n\n*It* is `<pad>`, $a < b$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "![p](attachment:p.png) [source](https://example.org)\n\n```python\nx = 1\n```\n",
        {"p.png": {"image/png": "AAAA"}},
    )
    for wanted in (
        *("Why", "<em>It</em>", "<code>&lt;pad&gt;</code>", "$a &lt; b$", "<td>1</td>"),
        *('src="data:image/png;base64,AAAA"', 'href="https://example.org"', 'class="highlight"'),
    ):
        assert wanted in shown


def test_a_token_in_angle_brackets_is_shown_as_it_was_written():
    assert "the &lt;pad&gt; token" in _rendered("the <pad> token", {})
