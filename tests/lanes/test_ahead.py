"""What a second process compiles while the first one goes on."""

import importlib
import json
import os
import subprocess
import sys
import time

import pytest
from numba import types

from pliant.lanes import ahead, claims

FIRST_FRAME = """
import json, sys
from pliant.scenes.plans import open_plan
simulation = open_plan(sys.argv[1]).simulation()
simulation.advance()
from pliant.lanes.entry import USES
print(json.dumps([simulation.positions.tobytes().hex(), [use.origin for use in USES], [use.file for use in USES]]))
"""


def first_frame(scene, cache, processes):
    environment = os.environ | {"PLIANT_CACHE_DIR": str(cache), ahead.VARIABLE: str(processes)}
    command = [sys.executable, "-c", FIRST_FRAME, scene]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


def entry_of(row):
    return ahead.entry_of(importlib.import_module(row.module), row.name)


def test_every_function_of_the_list_exists():
    assert {row.group for row in ahead.rows()} == {"all", "contact"}
    for row in ahead.rows():
        function = entry_of(row)
        kinds = [ahead.numba_type(text) for text in row.types]
        assert len(kinds) == function.py_func.__code__.co_argcount, f"{row}: run tools/list_first_kernels.py again"
        assert [ahead.as_text(kind) for kind in kinds] == list(row.types)


@pytest.mark.parametrize(
    "kind",
    [
        types.float32,
        types.boolean,
        types.Array(types.float64, 2, "C"),
        types.Array(types.boolean, 1, "A", readonly=True),
        types.UniTuple(types.int64, 2),
        types.Tuple((types.int64, types.Array(types.uint8, 1, "C"))),
    ],
)
def test_types_are_read_as_they_were_written(kind):
    assert ahead.numba_type(ahead.as_text(kind)) == kind


def test_files_have_the_names_that_entries_give_them():
    rows = [row for row in ahead.rows() if row.module == "pliant.kernels.motion"]
    for row in rows:
        kinds = tuple(ahead.numba_type(text) for text in row.types)
        assert row.file == entry_of(row)._cache._file(kinds)
    assert rows


def test_a_process_that_lives_is_waited_for(tmp_path):
    file = tmp_path / "sweep.nbc"
    code = """
import sys, time
from pathlib import Path
from pliant.lanes import cache, claims
file = Path(sys.argv[1])
assert claims.claim(file)
print("claimed", flush=True)
time.sleep(0.5)
cache.write_atomically(file, "machine code")
claims.release(file)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "claimed\n"
        assert not claims.claim(file)
        claims.wait(file)
        assert file.read_text() == "machine code"
    assert not list(tmp_path.glob("*.claim"))


def test_claims_of_processes_that_are_gone_do_not_count(tmp_path):
    file = tmp_path / "sweep.nbc"
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    (tmp_path / "sweep.nbc.claim").write_text(f"{os.uname().nodename} {ended.pid}")
    claims.wait(file)
    assert claims.claim(file)
    assert claims.claim(file)  # its own
    claims.release(file)
    place = tmp_path / "sweep.nbc.claim"
    place.write_text(f"{os.uname().nodename} {os.getppid()}")
    assert not claims.claim(file)
    os.utime(place, (time.time() - 2 * claims.LONGEST,) * 2)
    assert claims.claim(file)


@pytest.mark.slow
def test_two_processes_give_the_same_bits_as_one(tmp_path):
    alone, origins, _ = first_frame("jelly", tmp_path / "one", 1)
    assert set(origins) == {"compiled"}
    together, origins, files = first_frame("jelly", tmp_path / "two", 2)
    assert together == alone
    assert origins.count("cache") >= 5, "the second process compiled too few"
    listed = {row.file for row in ahead.rows() if row.group == "all"}
    assert {file for file in files if file.startswith("pliant.")} <= listed
    assert not list(tmp_path.glob("two/*/*.claim"))
