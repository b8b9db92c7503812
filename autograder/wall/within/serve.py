"""The learner's side of the protocol: run cells, run probes, answer. Knows nothing else."""

import json
import socket
from collections.abc import Callable
from functools import cache

from autograder.seam.link import LinkError, receive, send
from autograder.seam.probe import observe_packed
from autograder.seam.shell import Shell


def serve(link: socket.socket) -> None:
    """Say hello, wait for the word to begin, then answer requests until the grader hangs up."""
    link.send(b"hello")
    if link.recv(2) != b"go":
        return
    shell = Shell.instance()
    while True:
        try:
            request = receive(link)
        except LinkError:
            return
        send(link, {"token": request["token"], **_answer(shell, request)})


def _answer(shell: Shell, request: dict) -> dict:
    if request["do"] == "cell":
        outputs = shell.record(request["code"])
        return {"outputs": json.dumps(outputs, default=repr, skipkeys=True).encode()}
    if request["do"] == "observe":
        probe = _probe(request["probe"], request["name"])
        return {"seen": observe_packed(shell.user_ns, probe, request["inputs"])}
    try:
        exec(compile(request["code"], "<reference>", "exec"), shell.user_ns)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"error": ""}


@cache
def _probe(text: str, name: str) -> Callable:
    names: dict = {}
    exec(text, names)
    return names[name]
