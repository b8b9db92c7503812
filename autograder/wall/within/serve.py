"""The learner's side of the protocol: run cells, run probes, answer. Knows nothing else."""

import json
import socket
import sys
from collections.abc import Callable
from functools import cache

from autograder.seam.link import LinkError, receive, send
from autograder.seam.probe import observe_packed
from autograder.seam.shell import Shell

LAST_ERROR = "_last_error_"


def serve(link: socket.socket) -> None:
    """Say hello, wait for the word to begin, then answer requests until the grader hangs up."""
    link.send(b"hello")
    if link.recv(2) != b"go":
        return
    shell = Shell.instance()
    moments: dict[str, dict] = {}
    while True:
        try:
            request = receive(link)
        except LinkError:
            return
        send(link, {"token": request["token"], **_answer(shell, moments, request)})


def _answer(shell: Shell, moments: dict[str, dict], request: dict) -> dict:
    if request["do"] == "cell":
        outputs = shell.record(request["code"])
        return {"outputs": json.dumps(outputs, default=repr, skipkeys=True).encode()}
    if request["do"] == "observe":
        probe = _probe(request["probe"], request["name"])
        return {"seen": observe_packed(shell.user_ns, probe, request["inputs"])}
    if request["do"] == "remember":
        moments[request["name"]] = _moment(shell)
        return {}
    if request["do"] == "return":
        shell.user_ns.clear()  # functions look their globals up here: the same dict, not a copy
        shell.user_ns.update(moments[request["name"]])
        sys.last_value = shell.user_ns.pop(LAST_ERROR, None)
        return {}
    try:
        exec(compile(request["code"], "<reference>", "exec"), shell.user_ns)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"error": ""}


def _moment(shell: Shell) -> dict:
    """Return what the names are bound to now, and what a probe may ask about the cells."""
    asked = {"In": list(shell.user_ns.get("In", [])), LAST_ERROR: getattr(sys, "last_value", None)}
    return {**shell.user_ns, **asked}


@cache
def _probe(text: str, name: str) -> Callable:
    names: dict = {}
    exec(text, names)
    probe: Callable = names[name]
    return probe
