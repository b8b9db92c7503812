"""The benchmark's runner: a part that fails costs the others nothing."""

import json

from tests import bench


def test_a_part_that_fails_loses_no_other_figure(tmp_path, capsys):
    written = tmp_path / "build" / "bench.json"
    written.parent.mkdir()
    written.write_text('{"old.figure": 1.0}')

    def breaks():
        raise RuntimeError("no such machine")

    parts = {"a": lambda: {"a.seconds": 2.5}, "b": breaks, "c": lambda: {"c.equal": True}}
    assert bench.measure(parts, written) == ["b"]
    assert json.loads(written.read_text()) == {"old.figure": 1.0, "a.seconds": 2.5, "c.equal": True}
    shown = capsys.readouterr()
    assert "2.5  a.seconds" in shown.out and "True  c.equal" in shown.out
    assert "no such machine" in shown.err


def test_every_file_of_figures_is_a_part():
    assert {"checks", "grading", "outcomes"} <= set(bench.parts())
