"""Answered notebooks run top to bottom in a kernel of Colab's versions, with no network.

Three lessons by default; COLAB_LESSONS=all runs them all (`make colab`, once a week on the hub).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from environments import (
    PINS,
    colab_environment,
    environment_python,
    install_course,
    layer,
    outer_environment,
    site_packages,
)

from autograder.release.notebooks import author
from autograder.repository import order

# the start, a lesson with figures and one that trains with the live curve
FEW = ["warm_up", "self_attention", "vit"]
SHOWN = {"self_attention": "image/png", "vit": "application/vnd.jupyter.widget-view+json"}
INLINE = "module://matplotlib_inline.backend_inline"  # as Colab has it
LESSONS = order() if os.environ.get("COLAB_LESSONS") == "all" else FEW

RUN = """\
import json, sys
from pathlib import Path
from jupyter_client.manager import start_new_kernel

cells = json.loads(Path("cells.json").read_text(encoding="utf-8"))
manager, client = start_new_kernel(kernel_name="python3", cwd=".")
shown = []

def hear(message):
    kind, content = message["msg_type"], message["content"]
    if kind in ("display_data", "execute_result", "update_display_data"):
        shown.extend(content["data"])
    if kind == "stream":
        print(content["text"], end="")

try:
    for cell in cells:
        reply = client.execute_interactive(cell, output_hook=hear, timeout=300)["content"]
        if reply["status"] != "ok":
            sys.exit(f"this cell failed: {cell}\\n{reply['ename']}: {reply['evalue']}")
finally:
    manager.shutdown_kernel(now=True)
print("shown:", *sorted(set(shown)))
print("ran to the end")
"""


@pytest.fixture(scope="module")
def colab(tmp_path_factory) -> Path:
    """Make an environment with our wheel on top of Colab's versions."""
    home = tmp_path_factory.mktemp("colab")
    python = layer(colab_environment(), home / "env")
    install_course(home / "wheel", site_packages(home / "env"))
    kernel = home / "env" / "share" / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    command = [str(python), "-s", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    return python


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_answered_notebook_runs_to_the_end_in_a_kernel_of_colab(lesson, colab, tmp_path):
    cells = [cell.source for cell in author(lesson).cells if cell.cell_type == "code"]
    (tmp_path / "cells.json").write_text(json.dumps(cells), encoding="utf-8")
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    bwrap = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--chdir", str(tmp_path)]
    own = {"IPYTHONDIR": str(tmp_path), "MPLBACKEND": INLINE}
    done = subprocess.run(
        [*bwrap, colab, "-s", "run.py"],
        capture_output=True,
        text=True,
        timeout=600,
        env=outer_environment() | own,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"lesson {lesson}: ready." in done.stdout and "ran to the end" in done.stdout
    if lesson in SHOWN:
        assert SHOWN[lesson] in done.stdout.partition("shown:")[2].split()


def test_the_environment_has_the_versions_of_colab():
    """All that can be had; torch is Colab's own only if COLAB_PYTHON asks for the whole stack."""
    whole = "COLAB_PYTHON" in os.environ
    freeze = [environment_python(colab_environment()), "-m", "pip", "list", "--format", "json"]
    there = json.loads(subprocess.run(freeze, capture_output=True, check=True).stdout)
    versions = {p["name"].lower().replace("-", "_"): p["version"].partition("+")[0] for p in there}
    for line in PINS.read_text(encoding="utf-8").splitlines():
        name, _, wanted = line.partition("==")
        if wanted and not line.startswith("#") and (whole or name != "torch"):
            assert versions[name.replace("-", "_")] == wanted, name
    for unwanted in ("nbgrader", "jupyter_book", "myst_nb", "transformers"):
        assert unwanted not in versions
