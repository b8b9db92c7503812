"""Put the storyteller's weights beside the built book, for the pages on which it can be tried.

A page fetches the file when a reader first touches the figure (solutions/figures/live_gpt.py). It
is made from the kept training of lesson gpt, and again only when something it rests on changes.
"""

from pathlib import Path

from solutions.ground import ROOT, digest, follow

SOURCE = ROOT / "solutions" / "figures" / "tales_script.py"


def rests_on() -> set[Path]:
    """Return the files that decide what the script says."""
    return follow({SOURCE, ROOT / "requirements.txt"}, ROOT)


def stamp() -> str:
    """Return the file's first line: it changes with everything that the script rests on."""
    return f"// made from {digest(rests_on())}\n"


def write(app, exception) -> None:
    """Write the file into the built book, where it is missing or out of date."""
    if exception is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / SOURCE.with_suffix(".js").name
    first = stamp()
    if target.exists() and target.read_text(encoding="utf-8").startswith(first):
        return
    from solutions.figures.tales_script import tales_script  # torch takes a second

    target.parent.mkdir(exist_ok=True)
    target.write_text(first + tales_script(), encoding="utf-8")


def setup(app) -> dict:
    """Hook it into Sphinx, after the pages have run and the training is kept."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
