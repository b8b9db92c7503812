"""Text that came from elsewhere, made safe for a page."""

import html


def marked(text: str) -> str:
    """Escape a sentence and set `code` in it."""
    pieces = html.escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
