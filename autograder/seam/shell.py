"""An IPython shell that records what each cell puts out, as a notebook would hold it."""

import base64
import contextlib
import sys
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

MAX_TEXT = 100_000  # characters of one cell's printed output, or of one result
MAX_PICTURE = 3_000_000
MAX_OUTPUTS = 200
CUT = "\n... the rest of the output was cut off ..."


class Recorder:
    """The outputs of the cell that is running, within bounds."""

    def __init__(self) -> None:
        self.outputs: list[dict[str, Any]] = []
        self.left = MAX_TEXT

    def add(self, output: dict[str, Any]) -> None:
        if len(self.outputs) < MAX_OUTPUTS:
            self.outputs.append(output)

    def write(self, name: str, text: str) -> None:
        """Append to a stream; what goes beyond the bound is dropped, and said once."""
        if not text or self.left < 0:  # said already
            return
        kept = text if len(text) <= self.left else text[: self.left] + CUT
        self.left -= len(text)
        last = self.outputs[-1] if self.outputs else {}
        if last.get("name") == name:
            last["text"] += kept
        else:
            self.add({"output_type": "stream", "name": name, "text": kept})

    def show(self, kind: str, data: dict, metadata: dict | None, **more: Any) -> None:
        held = {str(mime): _bounded(mime, value) for mime, value in data.items()}
        self.add({"output_type": kind, "data": held, "metadata": metadata or {}, **more})


def _bounded(mime: str, value: Any) -> Any:
    if isinstance(value, bytes):
        value = base64.b64encode(value).decode()
    if not isinstance(value, str):
        return value
    most = MAX_PICTURE if mime.startswith("image/") or mime == "text/html" else MAX_TEXT
    return value if len(value) <= most else value[:MAX_TEXT] + CUT


class Stream:
    """Stands for stdout or stderr while a cell runs."""

    encoding = "utf-8"

    def __init__(self, recorder: Recorder, name: str):
        self.recorder, self.name = recorder, name

    def write(self, text: str) -> int:
        self.recorder.write(self.name, str(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class Publisher(DisplayPublisher):
    def publish(
        self, data: dict, metadata: dict | None = None, source: str | None = None, **_: Any
    ) -> None:
        self.shell.recorder.show("display_data", data, metadata)

    def clear_output(self, wait: bool = False) -> None:
        self.shell.recorder.outputs.clear()


class Hook(DisplayHook):
    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict, md_dict: dict | None = None) -> None:
        assert self.shell is not None
        count = self.shell.execution_count
        self.shell.recorder.show("execute_result", format_dict, md_dict, execution_count=count)


class Shell(InteractiveShell):
    """Runs cells one by one, in a namespace of its own."""

    display_pub_class = Type(Publisher)
    displayhook_class = Type(Hook)
    colors = "nocolor"

    def __init__(self, **kwargs: Any):
        self.recorder = Recorder()
        # no history: it would start a thread, and a process that forks must have one only
        quiet = Config({"HistoryManager": {"enabled": False}})
        super().__init__(user_ns={}, config=quiet, **kwargs)
        with contextlib.suppress(Exception):  # figures are shown where matplotlib can
            self.enable_matplotlib("inline")

    def enable_gui(self, gui: str | None = None) -> None:
        pass

    def _showtraceback(self, etype: type, evalue: Any, stb: list[str]) -> None:
        text = str(evalue)[:2000]
        self.recorder.add(
            {
                "output_type": "error",
                "ename": str(etype.__name__),
                "evalue": text,
                "traceback": [line[:MAX_TEXT] for line in stb],
            }
        )

    def record(self, code: str) -> list[dict[str, Any]]:
        """Run a cell; return its outputs."""
        self.recorder = recorder = Recorder()
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = Stream(recorder, "stdout"), Stream(recorder, "stderr")
        try:
            self.run_cell(code, store_history=True)
        finally:
            sys.stdout, sys.stderr = before
        return recorder.outputs
