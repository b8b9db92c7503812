"""What every test may count on holds, however pytest was started."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from autograder.repository import ROOT

TOLD = "import signal; signal.raise_signal(signal.SIGINT)"


def test_torch_computes_on_one_thread():
    assert torch.get_num_threads() == 1


def test_ctrl_c_is_heard_by_a_test_and_by_what_it_starts():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    started = subprocess.run([sys.executable, "-c", TOLD], capture_output=True, timeout=60)
    assert b"KeyboardInterrupt" in started.stderr


@pytest.mark.skipif("CTRL_C_IGNORED" in os.environ, reason="this is the suite that it starts")
def test_ctrl_c_is_heard_in_a_suite_started_in_the_background():
    this = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    result = subprocess.run(
        ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *this],
        cwd=ROOT,
        env={**os.environ, "CTRL_C_IGNORED": "1", "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0 and "2 passed" in result.stdout, result.stdout
