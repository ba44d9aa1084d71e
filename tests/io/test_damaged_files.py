"""Files that were cut off, or of which bytes, numbers or arrays were changed: they are read, or give one error."""

import re
import signal

import numpy as np
import pytest

import pliant as pl

WORDS = (b"1e400", b"nan", b"-1", b"99999999999999999999", b"", b"x", b"\0", b"\xff\xfe", b"[", b'"', b"inf", b"0")
SECONDS = 20.0  # of CPU, after which reading counts as hanging
SCENE = """
[simulation]
substeps = 2
[solver]
name = "VBD"
iterations = 5
[contact]
friction = 0.3
[[bodies]]
kind = "solid"
shape = { kind = "box", size = [0.1, 0.1, 0.1], cells = 2 }
transform = { translation = [0, 0, 1] }
material = { law = "StableNeoHookean", youngs_modulus = 1e6, poissons_ratio = 0.3 }
[[obstacles]]
kind = "plane"
"""


class Hang(BaseException):
    """No error that code which reads files would take for one of its own."""


@pytest.fixture(autouse=True)
def _no_hang():
    def stop(*_):
        raise Hang

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A function: a whole file by its name."""
    folder, box = tmp_path_factory.mktemp("whole"), pl.shapes.box(cells=1)
    scene = pl.Scene()
    scene.add_solid(box, pl.StableNeoHookean.from_young(1e6, 0.3)).pin([0])
    scene.add_plane((0, 0, -5))
    simulation = pl.Simulation(scene)

    def make(name):
        path = folder / name
        if name.startswith("mesh"):
            pl.save_mesh(path, box)
        elif name.startswith("surface"):
            pl.save_mesh(path, box.surface())
        elif name.startswith("checkpoint"):
            simulation.save(path)
        elif name.endswith(".toml"):
            path.write_text(SCENE)
        else:
            with simulation.record(path):
                pass
        return path if path.exists() else path.with_stem(f"{path.stem}_00000")  # of a sequence

    return make


def read(name, path):
    if name.startswith("checkpoint"):
        pl.Simulation.resume(path)
    elif name.startswith("result"):
        with pl.open_result(path) as result:
            for frame in result:
                assert frame.points.shape == (result.layout.n_points, 3)
            assert result.triangles.max(initial=0) < result.layout.n_points
    elif name.endswith(".toml"):
        pl.load_scene(path)
    else:
        pl.load_mesh(path)


def damaged(data, random):
    """Cut off, changed, shortened, with a part twice, or with another word in place of some bytes or a number."""
    data = bytearray(data)
    first = int(random.integers(len(data)))
    last = first + int(random.choice([1, 2, 8, 64]))
    word = WORDS[random.integers(len(WORDS))]
    kind = random.integers(6)
    if kind == 0:
        return data[:first]
    if kind == 1:
        data[first] = random.integers(256)
    elif kind == 2:
        del data[first:last]
    elif kind == 3:
        data[first:first] = data[first:last]
    elif kind == 4:
        data[first:last] = word
    elif numbers := list(re.finditer(rb"\d+\.?\d*", data)):
        chosen = numbers[random.integers(len(numbers))]
        data[chosen.start() : chosen.end()] = word
    return data


def damaged_arrays(path, random):
    """Arrays of an .npz file, one of them missing, of another shape or type, or with another number."""
    with np.load(path) as file:
        arrays = dict(file)
    name = sorted(arrays)[random.integers(len(arrays))]
    array = arrays.pop(name)
    kind = random.integers(6)
    if kind == 1:
        arrays[name] = array.reshape(-1)[:-1]
    elif kind == 2:
        arrays[name] = array[None]
    elif kind == 3:
        arrays[name] = array.astype(str)
    elif kind == 4:
        arrays[name] = np.zeros((0, *array.shape[1:]), array.dtype)
    elif kind == 5 and array.size and array.dtype.kind in "if":
        array.reshape(-1)[random.integers(array.size)] = random.choice([-1, 10**9, 0])
        arrays[name] = array
    return arrays


def check(name, whole, tmp_path, count):
    path, random = whole(name), np.random.default_rng(5)
    data, target, errors = path.read_bytes(), tmp_path / path.name, 0
    for k in range(count):
        if name.endswith(".npz") and k % 2:
            np.savez(target, **damaged_arrays(path, random))
        else:
            target.write_bytes(damaged(data, random))
        try:
            read(name, tmp_path / name)
        except pl.PliantError:
            errors += 1
    assert errors > count / 10, "the damage is felt"


FILES = ("mesh.npz", "mesh.vtu", "mesh.msh", "surface.obj", "surface.ply", "surface.stl", "checkpoint.npz",
         "result.npz", "result.pvd", "result.ply", "scene.toml")  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_give_one_error(name, whole, tmp_path):
    check(name, whole, tmp_path, 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FILES, "mesh.mesh", "mesh.vtk", "surface.off", "result.usda", "result.usdc"])
def test_hundreds_of_damaged_files_give_one_error(name, whole, tmp_path):
    if ".usd" in name:
        pytest.importorskip("pxr")
    check(name, whole, tmp_path, 200)


def test_a_mesh_that_is_cut_off_does_not_hang(tmp_path):
    """meshio's readers of these formats read on and on behind the end."""
    box = pl.shapes.box(cells=1)
    for ending, mesh in ((".msh", box), (".ply", box.surface()), (".off", box.surface())):
        path = tmp_path / f"mesh{ending}"
        pl.save_mesh(path, mesh)
        assert type(pl.load_mesh(path)) is type(mesh)
        data = path.read_bytes()
        for end in (4, 10, len(data) // 3, len(data) // 2):
            path.write_bytes(data[:end])
            with pytest.raises(pl.PliantError):
                pl.load_mesh(path)
