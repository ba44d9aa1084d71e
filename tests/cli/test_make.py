"""The Makefile lists its targets."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_lists_every_target():
    shown = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for target in ("help", "demo", "test", "test-all", "check", "fix", "bench", "wheel", "docs", "blender", "clean"):
        assert f"make {target} " in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_constraints_are_plain_versions():
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, separator, version = line.partition("==")
        assert name, line
        assert separator, line
        assert version[0].isdigit(), line
