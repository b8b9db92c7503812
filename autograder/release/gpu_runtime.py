"""Which notebooks ask Colab for a GPU: those whose cells pick a device to train on."""

import ast
import json
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from autograder.repository import EXERCISES

ASKS = "pick_device"  # solutions.train.pick_device: a cell that calls it can use a GPU
GPU = {"accelerator": "GPU", "colab": {"gpuType": "T4", "provenance": []}}  # Colab's own words


def gpu_metadata(cells: list[NotebookNode]) -> dict[str, Any]:
    """Return what a notebook's metadata must say for Colab to open it on a GPU; else nothing."""
    return GPU if trains(cells) else {}


def trains(cells: list[NotebookNode]) -> bool:
    """Say whether some cell picks its device."""
    return any(_calls(cell.source) for cell in cells if cell.cell_type == "code")


def runtime_words(lesson: str) -> str:
    """Return what a page says of the runtime if the lesson's notebook asks for a GPU."""
    path = EXERCISES / f"{lesson}.ipynb"
    if not path.exists() or "accelerator" not in json.loads(path.read_bytes())["metadata"]:
        return ""
    return (
        " It trains a model: on Colab it asks for a GPU, which you can change under <em>Runtime → "
        "Change runtime type</em>. Without one it trains a smaller model or for fewer steps."
    )


def _calls(source: str) -> bool:
    if ASKS not in source:
        return False
    tree = ast.parse(TransformerManager().transform_cell(source))
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(isinstance(name, ast.Name) and name.id == ASKS for name in called)
