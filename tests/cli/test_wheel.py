"""A wheel with compiled kernels: installed beside no source, the first frame of its scenes compiles nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCENE = "jelly"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a package installed from a wheel that carries the kernels of one scene."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "tools/build_wheel.py", "--scenes", SCENE, "--folder", str(folder / "dist")]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("pliant-*.whl")
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(folder / "site"),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    return folder / "site"


def first_frame(site: Path, cache: Path, **environment: str) -> dict:
    """What `pliant info --compile` reports with an empty cache and the installed package."""
    chosen = {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1", "PLIANT_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "pliant", "info", SCENE, "--compile", "--json"]
    result = subprocess.run(
        command, env=os.environ | chosen | environment, cwd=site, capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


def supports(level: str) -> bool:
    from pliant.lanes.host import cpu_features
    from pliant.lanes.shipped import LEVELS

    return cpu_features().issuperset(LEVELS[level])


@pytest.mark.slow
@pytest.mark.skipif(not supports("x86-64-v3"), reason="needs a CPU of the level x86-64-v3")
def test_first_frame_from_the_wheel_compiles_nothing(installed: Path, tmp_path: Path) -> None:
    facts = first_frame(installed, tmp_path / "cache")
    assert facts["compiled"]["functions"] == 0
    assert facts["cache"]["functions"] == 0
    assert facts["wheel"]["functions"] >= 10
    assert any("sweep" in function["name"] for function in facts["functions"])


@pytest.mark.slow
def test_a_wheel_holds_every_level(installed: Path) -> None:
    """The same functions for both levels, and as many files of derivatives."""
    counts = {path.name: len(list(path.glob("*/*.nbc"))) for path in (installed / "pliant" / "compiled").iterdir()}
    assert set(counts) == {"x86-64-v3", "x86-64-v4"}
    assert counts["x86-64-v3"] == counts["x86-64-v4"] >= 10


@pytest.mark.slow
def test_edited_sources_do_not_use_the_wheels_kernels(installed: Path, tmp_path: Path) -> None:
    """A wheel whose sources were edited after it was built compiles again."""
    path = installed / "pliant" / "lanes" / "vectors.py"
    text = path.read_text()
    path.write_text(text + "\n# edited\n")
    try:
        facts = first_frame(installed, tmp_path / "cache")
    finally:
        path.write_text(text)
    assert facts["wheel"]["functions"] == 0
    assert facts["compiled"]["functions"] >= 10


@pytest.mark.slow
def test_wheel_and_sdist_pass_twine_and_the_gallery_runs_in_a_clean_environment(tmp_path: Path) -> None:
    """A new environment with nothing but the wheel and what it requires: every scene runs two frames."""
    pytest.importorskip("build")
    pytest.importorskip("twine")
    dist = tmp_path / "dist"
    build = [sys.executable, "tools/build_wheel.py", "--levels", "--sdist", "--folder", str(dist)]
    said = subprocess.run(build, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert said.count("PASSED") == 2
    (wheel,) = dist.glob("pliant-*.whl")
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    listed = subprocess.run(
        [str(python), "-m", "pliant", "gallery", "--json"], env=clean, cwd=tmp_path, capture_output=True, check=True
    )
    names = [entry["name"] for entry in json.loads(listed.stdout)]
    assert len(names) >= 20
    for name in names:
        command = [str(python), "-m", "pliant", "run", name, "--frames", "2", "--quiet"]
        done = subprocess.run(command, env=clean, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name}: {done.stderr}"
