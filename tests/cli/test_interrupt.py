"""A real Ctrl-C during the demo."""

import os
import signal
import subprocess
import sys
import time

import pytest


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_during_the_demo_keeps_a_checkpoint(tmp_path):
    command = [sys.executable, "-u", "-m", "pliant.cli.main", "demo", "--frames", "100000", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = [process.stdout.readline(), process.stdout.readline()]  # the second line is printed just before the frames
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 130, "".join(said) + rest
    assert (tmp_path / "demo.npz").exists()
    assert f"pliant resume {tmp_path / 'demo.npz'}" in rest
    assert "Traceback" not in rest
