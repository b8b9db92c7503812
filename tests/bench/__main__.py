"""Measure what the course promises, and write the figures to _build/bench.json: `make bench`.

Every file <part>.py beside this one has `figures()`, which returns named figures. What is written
holds, for each part, when it was measured, how busy the machine was before, and its figures: parts
that were not asked for stay as they were. A part that fails is named at the end, and costs the
others nothing.
"""

import argparse
import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
WRITTEN = ROOT / "_build" / "bench.json"
Figures = dict[str, float | bool]


def parts() -> list[str]:
    """Return the names of what can be measured."""
    names = (path.stem for path in HERE.glob("*.py"))
    return sorted(name for name in names if not name.startswith(("_", "test_")))


def figures_of(part: str, *arguments) -> Figures:
    return importlib.import_module(f"tests.bench.{part}").figures(*arguments)


def measure(measures: dict[str, Callable[[], Figures]], written: Path) -> list[str]:
    """Measure part by part, write what is known after each; return the parts that failed."""
    known = json.loads(written.read_text(encoding="utf-8")) if written.exists() else {}
    written.parent.mkdir(exist_ok=True)
    failed = []
    for name, figures in measures.items():
        print(f"\n{name}", flush=True)
        known.pop(name, None)  # what was measured before this code must not pass for its own
        busy = {"when": f"{datetime.now():%Y-%m-%d %H:%M}", "load": round(os.getloadavg()[0], 2)}
        try:
            found = figures()
        except Exception:  # the other parts are worth having without it
            traceback.print_exc()
            failed.append(name)
        else:
            known[name] = {**busy, "figures": found}
            for figure, value in found.items():
                print(f"{shown(value):>12}  {figure}", flush=True)
        written.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return failed


def shown(value: float | bool) -> str:
    return str(value) if isinstance(value, bool) else f"{value:.4g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", help=f"default: all of {', '.join(parts())}")
    parser.add_argument("--submissions", type=int, default=40, help="for the graders (40)")
    parser.add_argument("--classes", type=int, nargs=2, default=(50, 1000), help="(50 1000)")
    options = parser.parse_args()
    given = {"grading": (options.submissions, tuple(options.classes))}
    measures = {
        name: partial(figures_of, name, *given.get(name, ())) for name in options.part or parts()
    }
    failed = measure(measures, WRITTEN)
    print(f"\nThe figures are in {WRITTEN.relative_to(ROOT)}.")
    if failed:
        print(f"These parts failed: {', '.join(failed)}.", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
