"""Tell a learner, at the head of a notebook, what it runs on and what will be kept.

Every notebook imports this, so what only a training needs is imported where it is used.
"""

import sys

from solutions import COURSE
from solutions.keeping import folder, on_drive


def ready(lesson: str, trains: bool = False) -> None:
    """Say that the set-up is done; before a training also its device and where its files go."""
    print(f"{COURSE}, lesson {lesson}: ready.")
    if trains:
        print(device_text(), kept_text(), sep="\n")


def in_colab() -> bool:
    return "google.colab" in sys.modules


def device_text() -> str:
    """Return which recipe will be trained on what, and how to get a GPU where there is none."""
    import torch

    from solutions.train import pick_device

    device = pick_device()
    if device.type == "cuda":
        return f"GPU found ({torch.cuda.get_device_name()}): trainings take their large recipe."
    if device.type != "cpu":
        return f"GPU found ({device.type})."
    text = "No GPU: trainings take their small recipe, and the bar of each shows the time left."
    if in_colab():
        text += "\nFor the large one: Runtime → Change runtime type → T4 GPU → Save, then run all."
    return text


def kept_text() -> str:
    """Return where checkpoints and trained models go, and how to have them outlast a runtime."""
    if in_colab() and not on_drive():
        return (
            "What you train is lost with this runtime. To keep it, first run: "
            "from google.colab import drive; drive.mount('/content/drive')"
        )
    return f"Checkpoints and trained models are kept in {folder()}."
