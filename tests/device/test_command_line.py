"""Devices on the command line, and those who do without."""

import subprocess
import sys

from typer.testing import CliRunner

from pliant.cli.main import app
from pliant.device.opencl import describe_devices

CPU_ONLY = """
import sys
import pliant as pl
scene = pl.Scene()
scene.add_particles([(0, 0, 1)], 0.1)
pl.Simulation(scene)
assert "pyopencl" not in sys.modules
assert "pliant.device.vbd" not in sys.modules
"""


def test_who_runs_on_the_cpu_does_not_import_pyopencl() -> None:
    done = subprocess.run([sys.executable, "-c", CPU_ONLY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_kernels_of_a_scene_are_printed() -> None:
    """With the names of Python's variables and the numbers of equations."""
    result = CliRunner().invoke(app, ["info", "--kernels", "cantilever"])
    assert result.exit_code == 0, result.output
    assert "KERNEL void solve_groups" in result.output
    assert "Equations 8 and 9" in result.output
    assert "tets of" in result.output


def test_devices_are_listed() -> None:
    result = CliRunner().invoke(app, ["info"])
    assert result.exit_code == 0, result.output
    assert describe_devices()[0]["name"] in " ".join(result.output.split())
