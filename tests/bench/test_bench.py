"""The benchmark's runner: a part that fails loses its old figures, and costs the others nothing."""

import json

from tests.bench import __main__ as bench


def test_a_part_that_fails_loses_its_own_figures_and_no_others(tmp_path, capsys):
    written = tmp_path / "build" / "bench.json"
    written.parent.mkdir()
    old = {"figures": {"old.figure": 1.0}}
    written.write_text(json.dumps({"b": old, "d": old}))

    def breaks():
        raise RuntimeError("no such machine")

    parts = {"a": lambda: {"a.seconds": 2.5}, "b": breaks, "c": lambda: {"c.equal": True}}
    assert bench.measure(parts, written) == ["b"]
    found = json.loads(written.read_text())
    assert {name: part["figures"] for name, part in found.items()} == {
        "d": {"old.figure": 1.0},
        "a": {"a.seconds": 2.5},
        "c": {"c.equal": True},
    }
    assert found["a"]["load"] >= 0 and found["a"]["when"].startswith("20")
    shown = capsys.readouterr()
    assert "2.5  a.seconds" in shown.out and "True  c.equal" in shown.out
    assert "no such machine" in shown.err


def test_every_file_of_figures_is_a_part():
    assert {"checks", "grading", "outcomes"} <= set(bench.parts())
