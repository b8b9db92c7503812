"""Formulas as MathML, made when a page is written: browsers draw it without any script.

What cannot be read as a formula is shown as it was written.
"""

import re
import xml.etree.ElementTree as ET
from functools import lru_cache
from html import escape

MAX_FORMULA = 2000  # characters
MAX_DEPTH = 60  # a tree deeper than any formula that a human reads
SPACE = "http://www.w3.org/1998/Math/MathML"
TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "ms", "mspace", "mtext", "menclose", "merror", "mfrac"),
    *("mover", "mpadded", "mphantom", "mprescripts", "mroot", "mstyle", "msub", "msubsup", "msup"),
    *(
        "msqrt",
        "mtable",
        "mtd",
        "mtr",
        "munder",
        "munderover",
        "mmultiscripts",
        "none",
        "mlabeledtr",
    ),
}
ATTRIBUTES = {
    *("accent", "columnalign", "columnlines", "columnspacing", "depth", "display", "displaystyle"),
    *("fence", "form", "height", "linebreak", "linethickness", "lspace", "mathvariant", "maxsize"),
    *("minsize", "movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel"),
    *("separator", "stretchy", "voffset", "width"),
}


NUMBER = re.compile(r"&#x([0-9A-Fa-f]{1,6});")  # how latex2mathml writes a letter down
SAME = {"aligned": "align*", "equation": "align*", "equation*": "align*", "align": "align*"}


@lru_cache(maxsize=1000)
def as_mathml(latex: str, display: bool) -> str:
    """Return a formula as MathML, or its own text where it is none."""
    from latex2mathml.converter import convert_to_element

    try:
        if len(latex) > MAX_FORMULA or _depth(latex) > MAX_DEPTH:
            raise ValueError("too long or too deep")
        plain = latex.strip()
        for name, known in SAME.items():
            for word in ("begin", "end"):
                plain = plain.replace(f"\\{word}{{{name}}}", f"\\{word}{{{known}}}")
        tree = convert_to_element(plain, display="block" if display else "inline")
        _reduce(tree)
        return ET.tostring(tree, encoding="unicode", short_empty_elements=False)
    except Exception:  # whatever a reader of formulas may trip over
        sign = "$$" if display else "$"
        return f"<code>{escape(sign + latex + sign)}</code>"


def _depth(latex: str) -> int:
    """Return how deep brackets and commands that wrap others may nest."""
    deep = most = 0
    for letter in latex:
        deep += (letter in "{([") - (letter in "})]")
        most = max(most, deep)
    return max(most, latex.count("\\left"), latex.count("\\begin"), latex.count("\\sqrt"))


def _letter(found: re.Match) -> str:
    return chr(int(found[1], 16))


def _reduce(tree: ET.Element) -> None:
    """Keep elements that draw and attributes that size and space: no link, style or handler."""
    for node in tree.iter():
        name = node.tag.removeprefix(f"{{{SPACE}}}")
        if name not in TAGS:
            raise ValueError(f"an element {name}")
        node.tag, node.text = name, node.text and NUMBER.sub(_letter, node.text)
        node.attrib = {k: v for k, v in node.attrib.items() if k in ATTRIBUTES}
    tree.set("xmlns", SPACE)
