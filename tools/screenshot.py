"""Photograph a page of the built book.

python tools/screenshot.py PAGE OUT.png [--width 375] [--full] [--dark] [--print] [--run JAVASCRIPT]
"""

import argparse
from pathlib import Path

from browser import Browser

BUILT = Path(__file__).resolve().parent.parent / "_build" / "html"


def main() -> None:
    parser = argparse.ArgumentParser(description="Photograph a page of the built book.")
    parser.add_argument("page", help="a page's name, such as warm_up, or the path of a .html file")
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--full", action="store_true", help="the full height of the page")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--print", action="store_true", help="as it would be printed")
    parser.add_argument("--run", default="0", help="JavaScript to run first, such as a click")
    args = parser.parse_args()
    page = Path(args.page) if args.page.endswith(".html") else BUILT / f"{args.page}.html"
    if not page.exists():
        parser.exit(
            1, f"screenshot: {page.name} is not there; run python book/machinery/build.py first.\n"
        )
    with Browser() as browser:
        shown = browser.page()
        shown.view(args.width, args.height, args.dark, args.print)
        shown.open(page)
        shown.evaluate(args.run)
        shown.settle()
        shown.screenshot(args.out, args.full)
        for line in shown.failures + shown.errors:
            print(f"screenshot: the page reports: {line}")


if __name__ == "__main__":
    main()
