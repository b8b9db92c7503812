"""Take the README's pictures anew: a page of the book, a check's feedback, the class report.

Run `make course` first; what is photographed is what it built.
"""

import sys
import tempfile
from pathlib import Path

from browser import Browser

from autograder.checks.card import as_html
from autograder.checks.marking import mark
from autograder.checks.slips import patched
from autograder.lessons import load

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / ".github" / "pictures"


def feedback_page() -> str:
    """Return a page with the card of a learner who forgot the transpose."""
    lesson = load("multi_head")
    slip = lesson["split_heads"].slips[0]
    result = mark(lesson, "split_heads", dict(patched(slip)))
    return f"<meta charset='utf-8'><body style='margin:12px'>{as_html(result, graded=False)}"


def main() -> int:
    book = ROOT / "_build" / "html" / "multi_head.html"
    report = ROOT / "_build" / "course" / "class_report.html"
    if not (book.exists() and report.exists()):
        print("readme_pictures: nothing is built yet; run make course first.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        shown = browser.page()
        card = Path(folder) / "card.html"
        card.write_text(feedback_page(), encoding="utf-8")
        for name, page, size in (
            ("book", book, (1280, 900)),
            ("check", card, (820, 370)),
            ("report", report, (1100, 900)),
        ):
            shown.view(*size)
            shown.open(page)
            shown.screenshot(PICTURES / f"{name}.png")
            print(f".github/pictures/{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
