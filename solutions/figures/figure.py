"""One interactive figure: a .js file and its data, drawn with no kernel and no network.

The .js file is written as anywidget wants it: it draws in `render({ model, el })`, reads its data
with `model.get("data")`, and ends in the line `export default { render };`. It imports nothing but
`element`, in the line `import { element } from "./element.js";`, which is replaced by that file: a
page or a widget is one text, with nothing to load.
"""

import base64
import hashlib
import html
import io
import json
import re
from pathlib import Path

HERE = Path(__file__).parent
EXPORT = "export default { render };"
IMPORT = 'import { element } from "./element.js";\n'
ELEMENT = (HERE / "element.js").read_text(encoding="utf-8").replace("export ", "", 1)
STYLE = (HERE / "figure.css").read_text(encoding="utf-8")
MOUNT = (HERE / "mount.js").read_text(encoding="utf-8")


class Figure:
    """Show `script` drawing `data`; where no script runs, and in print, show `still`.

    script: the path of the .js file; data: anything JSON can hold;
    still: PNG bytes or a matplotlib figure; alt: what the figure shows, in a sentence;
    height: the room in pixels kept free until it is drawn, so that the text does not jump.
    """

    def __init__(self, script: Path | str, data, still, alt: str, height: int = 300):
        self.script = Path(script)
        self.data = data
        self.still = still if isinstance(still, bytes) else png_of(still)
        self.alt = alt
        self.height = height
        self.source = self.script.read_text(encoding="utf-8").replace(IMPORT, ELEMENT, 1)
        if self.source.count(EXPORT) != 1:
            raise ValueError(f"{self.script.name}: the line `{EXPORT}` must stand in it once.")
        if re.search(r"^\s*import\b", self.source, re.MULTILINE):
            raise ValueError(
                f"{self.script.name}: a figure is one text and can load nothing; the one line of "
                f"import that it may have is `{IMPORT.strip()}`."
            )
        if "</script" in self.source.lower() or "<!--" in self.source:
            raise ValueError(
                f"{self.script.name}: it holds `</script` or `<!--`, which would end the page's "
                "script early. Write it in two strings joined by +."
            )

    def _repr_html_(self) -> str:
        data = json.dumps(self.data, allow_nan=False).replace("<", "\\u003c")
        name = hashlib.sha256((self.source + data).encode()).hexdigest()[:12]
        alt = html.escape(self.alt, quote=True)
        image = base64.b64encode(self.still).decode()
        draw = self.source.replace(EXPORT, f'mount(render, "{name}", {data});')
        return (
            f'<div class="course-figure" data-figure="{name}" role="group" aria-label="{alt}">\n'
            f"<style>{STYLE}</style>\n"
            f'<div class="live" style="min-height: {self.height}px"></div>\n'
            f'<img class="still" alt="{alt}" src="data:image/png;base64,{image}">\n'
            f"<script>(() => {{\n{MOUNT}\n{draw}\n}})();</script>\n</div>"
        )

    def _repr_png_(self) -> bytes:
        return self.still

    def __repr__(self) -> str:
        return f"Figure({self.script.name}: {self.alt})"

    def widget(self):
        """Return an anywidget made from the same .js file, for when a kernel should answer."""
        import anywidget
        import traitlets

        class FigureWidget(anywidget.AnyWidget):
            _esm = self.source
            _css = STYLE
            data = traitlets.Any().tag(sync=True)

        return FigureWidget(data=self.data, _dom_classes=["course-figure"])


def png_of(still) -> bytes:
    """Draw a matplotlib figure into PNG bytes, and keep the notebook from showing it again."""
    buffer = io.BytesIO()
    still.savefig(buffer, format="png", dpi=150, bbox_inches="tight", facecolor="white")
    if hasattr(still, "number"):  # only the figures made by pyplot have one
        import matplotlib.pyplot as plt

        plt.close(still)
    return buffer.getvalue()
