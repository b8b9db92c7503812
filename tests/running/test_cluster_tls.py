"""A scheduler with the guide's TLS answers those who hold the key, and nobody else."""

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.repository import ROOT

pytest.importorskip("distributed", reason="Dask is not installed")
pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl here")

GUIDE = (ROOT / "book" / "guide_instructors.md").read_text(encoding="utf-8")
MEET = """
import sys
from autograder.errors import CourseError
from autograder.running import cluster
cluster.CONNECT = int(sys.argv[2])
try:
    cluster.Cluster(sys.argv[1]).meet()
except CourseError as problem:
    print("refused:", problem)
else:
    print("met")
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> Path:
    """Do what the guide says: make a certificate, write the file."""
    folder = tmp_path_factory.mktemp("tls")
    (make,) = re.findall(r"^openssl .*$", GUIDE, flags=re.MULTILINE)
    subprocess.run(make.split(), cwd=folder, check=True, capture_output=True, timeout=120)
    (text,) = re.findall(r"```yaml\n(.*?tls:.*?)```", GUIDE, flags=re.DOTALL)
    (folder / "dask").mkdir()
    (folder / "dask" / "tls.yaml").write_text(text.replace("/home/you", str(folder)))
    return folder / "dask"


@pytest.fixture(scope="module")
def address(settings):
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--protocol", "tls"]
    port = free_port()
    scheduler = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"],
        env={**os.environ, "DASK_CONFIG": str(settings)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"127.0.0.1:{port}"
    finally:
        scheduler.terminate()
        scheduler.wait(timeout=60)


def met(address: str, seconds: int = 60, **more: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", MEET, address, str(seconds)],
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return ran.stdout


def test_who_holds_the_key_meets_the_scheduler(address, settings):
    assert met(f"tls://{address}", DASK_CONFIG=str(settings)).endswith("met\n")


def test_without_the_key_nobody_does(address, settings, tmp_path):
    met(f"tls://{address}", DASK_CONFIG=str(settings))  # it is up
    assert "refused: No Dask scheduler answers" in met(f"tcp://{address}", 5)
    with_none = met(f"tls://{address}", 5, DASK_CONFIG=str(tmp_path))
    assert "refused: " in with_none
