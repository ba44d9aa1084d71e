"""What a second process compiles while the first one goes on."""

import json
import os
import subprocess
import sys
import time

import pytest
from numba import types

from pliant.lanes import ahead, cache, claims
from pliant.lanes.first_kernels import as_text, first_kernels, numba_type
from pliant.scenes.gallery import entries

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


def entry_of(kernel):
    return ahead.entry_of(ahead.module_of(kernel, {}), kernel.name)


def test_every_function_of_the_list_exists():
    for kernel in first_kernels().kernels:
        if not kernel.can_be_imported(()):
            continue  # generated for a scene
        function = entry_of(kernel)
        kinds = [numba_type(text) for text in kernel.types]
        assert len(kinds) == function.py_func.__code__.co_argcount, f"{kernel}: run tools/list_first_kernels.py again"
        assert [as_text(kind) for kind in kinds] == list(kernel.types)


def test_the_list_knows_every_scene_of_the_gallery():
    listed = first_kernels()
    assert set(listed.scenes) == {entry.name for entry in entries()}, "run tools/list_first_kernels.py again"
    assert set().union(*listed.scenes.values()) == set(range(len(listed.kernels)))


@pytest.mark.parametrize("scene", ["avalanche", "jelly", "ragdoll", "skirt", "stack"])
def test_what_a_scene_asks_for_first_shows_what_it_needs_later(scene):
    """Two processes in turns, as if all functions took equally long: few that the second compiles are not needed."""
    listed = first_kernels()
    needed, done, useless = listed.scenes[scene], set(), 0
    for k, number in enumerate(needed):
        if number not in done:
            done.add(number)
            asked = {listed.kernels[number].place for number in needed[: k + 1]}
            guess = next((number for number in listed.needed_after(asked) if number not in done), None)
            done.add(guess)
            useless += guess is not None and guess not in needed
    assert useless <= 2


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
    assert numba_type(as_text(kind)) == kind


def test_generated_modules_have_labels_that_scenes_share():
    first = cache.load_module("labels_test", "X = 1", "a module")
    second = cache.load_module("labels_test", "X = 2", "a module")
    assert cache.load_module("labels_test", "X = 1", "a module") is first
    assert [cache.label_of(module.__name__) for module in (first, second)] == ["labels_test#0", "labels_test#1"]
    assert cache.load_written(second.__name__, "a module") is second
    assert cache.label_of("pliant.kernels.motion") == "pliant.kernels.motion"


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


def test_the_first_process_compiles_what_comes_next_while_it_waits(monkeypatch):
    listed = first_kernels()
    jelly = [listed.kernels[number] for number in listed.scenes["jelly"]]
    compiled = []
    helper = ahead.Helper()
    monkeypatch.setattr(ahead, "_compile", lambda kernel, generated: compiled.append(kernel) or len(compiled) == 3)
    assert not helper.compile_meanwhile(), "there is no second process to wait for"
    helper._process, helper._asked = object(), [kernel.place for kernel in jelly[:12]]
    assert helper.compile_meanwhile()
    assert len(compiled) == 3
    assert not {kernel.place for kernel in compiled} & set(helper._asked)
    assert all("#" not in kernel.module for kernel in compiled), "generated modules are left to the second process"


def test_the_second_process_begins_at_once_only_where_nothing_was_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ahead.shipped, "folder", lambda: None)
    monkeypatch.setattr(ahead, "core_count", lambda: 2)
    started = []
    monkeypatch.setattr(ahead.Helper, "_start", lambda self: started.append(self))
    monkeypatch.setenv(ahead.VARIABLE, "1")
    ahead.Helper().begin()
    monkeypatch.delenv(ahead.VARIABLE)
    assert not started
    ahead.Helper().begin()
    assert len(started) == 1
    folder = tmp_path / f"{cache.platform()}-0123"
    folder.mkdir()
    (folder / "motion.nbc").write_bytes(b"")
    ahead.Helper().begin()
    assert len(started) == 1, "what is missing may be one function"


def test_what_is_compiled_before_anything_is_asked_for_every_scene_needs():
    listed = first_kernels()
    assert all(set(listed.needed_after(())[:4]) <= set(needed) for needed in listed.scenes.values())


def test_the_first_process_compiles_nothing_that_is_not_sure(monkeypatch):
    """`stack` has asked for all it needs, and scenes like it need more."""
    listed = first_kernels()
    needed = [listed.kernels[number].place for number in listed.scenes["stack"]]
    guesses = {listed.kernels[number].place for number in listed.needed_after(needed)} - set(needed)
    assert len(guesses) > 5
    helper = ahead.Helper()
    helper._process, helper._asked = object(), needed[: len(needed) // 2]
    compiled = []
    monkeypatch.setattr(ahead, "_compile", lambda kernel, generated: compiled.append(kernel.place))
    assert not helper.compile_meanwhile()
    assert set(compiled) <= set(needed)
    assert len(compiled) >= 5


def test_functions_come_in_the_order_in_which_a_scene_needs_them():
    listed = first_kernels()
    asked = [listed.kernels[number].place for number in listed.scenes["gripper"]]
    assert listed.needed_after(asked) == list(dict.fromkeys(listed.scenes["gripper"]))


@pytest.mark.slow
def test_two_processes_give_the_same_bits_as_one(tmp_path):
    alone, origins, _ = first_frame("jelly", tmp_path / "one", 1)
    assert set(origins) == {"compiled"}
    together, origins, files = first_frame("jelly", tmp_path / "two", 2)
    assert together == alone
    assert origins.count("cache") >= 5, "the second process compiled too few"
    listed = first_kernels()
    kernels = (listed.kernels[number] for number in listed.scenes["jelly"])
    kernels = (kernel for kernel in kernels if kernel.can_be_imported(()))
    expected = {entry_of(kernel).file_for(tuple(map(numba_type, kernel.types))) for kernel in kernels}
    assert {file for file in files if file.startswith("pliant.")} <= expected
    end = time.monotonic() + claims.LONGEST  # the second process may be compiling what it expected to be needed
    while list(tmp_path.glob("two/*/*.claim")) and time.monotonic() < end:
        time.sleep(claims.PAUSE)
    assert not list(tmp_path.glob("two/*/*.claim"))
