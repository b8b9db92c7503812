"""What a cell shows: a drawing for a wide place and one for a narrow place, described in words."""

from pathlib import Path

from solutions.diagrams.drawing import Drawing

STYLE = (Path(__file__).parent / "diagram.css").read_text(encoding="utf-8")


class Diagram:
    """Show `wide` where there is room for it and `narrow` elsewhere; both say the same.

    name: a short title; description: what is to be seen, in words, for those who do not see it.
    """

    def __init__(self, name: str, description: str, wide: Drawing, narrow: Drawing):
        self.name, self.description = name, description
        self.wide, self.narrow = wide, narrow

    def _repr_html_(self) -> str:
        drawn = (("wide", self.wide), ("narrow", self.narrow))
        pictures = "".join(d.svg(self.name, self.description, kind) for kind, d in drawn)
        return f'<div class="course-diagram"><style>{STYLE}</style>{pictures}</div>'

    def __repr__(self) -> str:
        return f"Diagram({self.name}: {self.description})"
