"""Where things are in a checkout of the course, and what `_config.yml` says of it."""

from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXERCISES = ROOT / "exercises"


@cache
def config() -> dict:
    """Read the book's configuration; the repository's address is written there and only there."""
    import yaml

    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def address() -> str:
    return config()["repository"]["url"]


def branch() -> str:
    return config()["repository"]["branch"]


def colab(path: str) -> str:
    """Return the address at which Colab opens a file of the repository."""
    owner_and_name = address().removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{owner_and_name}/blob/{branch()}/{path}"


@cache
def order() -> list[str]:
    """Return the lessons in the order of the book's table of contents."""
    import yaml

    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
    pages = [c["file"] for part in toc["parts"] for c in part["chapters"]]
    return [page for page in pages if (EXERCISES / f"{page}.md").exists()]
