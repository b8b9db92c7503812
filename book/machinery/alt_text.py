"""Describe the pictures that cells draw to those who do not see them, by the captions under them.

Without this a screen reader reads out the name of a file. This file is a Sphinx extension (see
_config.yml).
"""

from docutils import nodes

UNDESCRIBED = "A picture; the text around it says what it shows."


def caption_below(node: nodes.Node) -> str:
    """Return the text of the caption that follows a node's cell; empty if none does."""
    while node.parent is not None and not isinstance(node.parent, nodes.section):
        node = node.parent
    follower = node.next_node(descend=False, siblings=True)
    is_caption = isinstance(follower, nodes.Element) and "caption" in follower.get("classes", [])
    return " ".join(follower.astext().split()) if is_caption else ""


def describe(app, doctree: nodes.document, docname: str) -> None:
    """Give every picture that has no alternative text its caption as one."""
    for image in doctree.findall(nodes.image):
        if not image.get("alt"):
            image["alt"] = caption_below(image) or UNDESCRIBED


def setup(app) -> dict:
    """Hook the rule into Sphinx."""
    app.connect("doctree-resolved", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
