"""What a learner's cells put out is kept as text and pictures that do nothing, within bounds."""

import json

import pytest

from autograder.running import outputs
from autograder.running.outputs import Room, harmless, stream


def shown(**data: str) -> dict | None:
    kinds = {name.replace("_", "/"): value for name, value in data.items()}
    return harmless({"output_type": "display_data", "data": kinds, "metadata": {"x": 1}})


@pytest.mark.parametrize("kind", ["text_html", "image_svg+xml", "application_javascript"])
def test_markup_and_scripts_are_left_out_and_the_text_beside_them_stays(kind):
    kept = shown(**{kind: "<script>1</script>", "text_plain": "a figure"})
    assert kept["data"] == {"text/plain": "a figure"} and kept["metadata"] == {}
    for text in ("<script>1</script>", "words that could be a picture"):
        assert shown(**{kind: text}) is None


def test_a_picture_that_would_end_its_attribute_is_no_picture():
    assert shown(image_png="iVBORw0KGgo=\n")["data"] == {"image/png": "iVBORw0KGgo=\n"}
    assert shown(image_png='AAAA" onerror="alert(1)') is None


@pytest.mark.parametrize("command", ["\x1b]0;title\x07", "\x1b[2J", "\x9b2J", "\x08", "\x00"])
def test_a_terminal_s_commands_are_taken_out_and_colours_stay(command):
    kept = harmless({"output_type": "stream", "name": "stdout", "text": f"a{command}b"})
    assert not {"\x1b", "\x9b", "\x07", "\x08", "\x00"} & set(kept["text"])
    red = harmless({"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m"})
    assert red["text"] == "\x1b[31mred\x1b[0m"


def test_outputs_beyond_the_bound_are_cut_off_and_it_is_said(monkeypatch):
    monkeypatch.setattr(outputs, "MAX_SHOWN", 1000)
    kept = Room().bounded([stream("x" * 300) for _ in range(50)])
    assert len(json.dumps(kept)) < 1200 and len(kept) == 3
    assert "cut off" in kept[-1]["text"]
