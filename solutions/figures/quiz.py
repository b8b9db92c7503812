"""A self-test question: every choice unfolds into the reason why it is right or wrong."""

import html


class Quiz:
    """Show a question and its choices; needs no script, so it works offline and in print."""

    def __init__(self, question: str, right: str, choices: dict[str, str]):
        if right not in choices:
            raise ValueError(f"the right choice {right!r} is not among the choices")
        self.question = question
        self.right = right
        self.choices = choices

    def _repr_html_(self) -> str:
        choices = "".join(
            f"<details><summary>{_text(choice)}</summary>"
            f"<p><strong>{'Yes.' if choice == self.right else 'No.'}</strong> {_text(why)}</p>"
            "</details>"
            for choice, why in self.choices.items()
        )
        return f'<div class="course-quiz"><p>{_text(self.question)}</p>{choices}</div>'

    def __repr__(self) -> str:
        lines = [
            f"- {c}: {'yes' if c == self.right else 'no'}, {w}" for c, w in self.choices.items()
        ]
        return "\n".join([self.question, *lines])


def _text(text: str) -> str:
    """Escape a sentence and set `code` in it."""
    pieces = html.escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(pieces))
