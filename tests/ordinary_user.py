"""A user without rights, made for a test, and how something is run as that user."""

import os
import pwd
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.repository import ROOT


@pytest.fixture
def ordinary_user():
    """A user made for this test, and removed after it."""
    if os.getuid() != 0:
        pytest.skip("only root can make a user; the other tests then ran as an ordinary one")
    if not shutil.which("useradd") or not shutil.which("setpriv"):
        pytest.skip("useradd or setpriv is not installed")
    name = f"learner{secrets.token_hex(3)}"
    subprocess.run(["useradd", "--no-create-home", name], check=True, capture_output=True)
    try:
        yield pwd.getpwnam(name)
    finally:
        subprocess.run(["userdel", name], check=True, capture_output=True)


def as_user(user: pwd.struct_passwd) -> list[str]:
    """Return the command that runs another as this user, who may read Python wherever it lies."""
    opened = []
    for folder in dict.fromkeys([sys.base_prefix, sys.prefix, str(ROOT)]):
        closed = [p for p in Path(folder).parents if not p.stat().st_mode & 0o001]
        if closed:  # show only what is needed of a home that others may not enter
            opened += ["--perms", "0755", "--tmpfs", str(closed[-1])]
            for parent in reversed(Path(folder).parents[:-1]):
                opened += ["--perms", "0755", "--dir", str(parent)]
            opened += ["--ro-bind", folder, folder]
    rights = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    become = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["bwrap", "--dev-bind", "/", "/", *opened, *rights, "--", *become]
