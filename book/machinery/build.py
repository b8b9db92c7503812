"""Build the book: python book/machinery/build.py [--strict]

Fetches the browser files once, runs the pages whose ground has changed, writes _build/html.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "_build" / "html"


def build(strict: bool = False) -> int:
    """Build the book and return 0, or another number if a page could not be built or run."""
    start = "from jupyter_book.cli.main import main; main()"  # this Python, whatever is on PATH
    command = [sys.executable, "-c", start, "build", "book"]
    if strict:
        # Sphinx repeats no warning of a page it does not read again: make it read them all.
        shutil.rmtree(ROOT / "_build" / ".doctrees", ignore_errors=True)
        command += ["-n", "-W", "--keep-going"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the book into _build/html.")
    parser.add_argument("--strict", action="store_true", help="treat every warning as an error")
    start = time.monotonic()
    code = build(parser.parse_args().strict)
    seconds = time.monotonic() - start
    if code:
        print(f"book: the build failed after {seconds:.0f} s; the reason stands above.")
    else:
        print(f"book: built in {seconds:.0f} s. Open {BUILT.relative_to(ROOT) / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
