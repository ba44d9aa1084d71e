"""Every array of a checkpoint is checked against its scene before it is used."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl


def torn_scene() -> pl.Simulation:
    """All that a checkpoint keeps arrays of: a solid with internal states, a sheet that tears, springs that are let go,
    kinematic vertices, an attachment, an obstacle of triangles, contact, deleted tets.
    """
    scene = pl.Scene()
    scene.contact = pl.Contact(stiffness=1e4, thickness=2e-3)
    law = pl.NeoHookean.from_young(1e4, 0.3)
    block = scene.add_solid(pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2)), pl.Invertible(law), name="block")
    block.constrain_to_line([0], (1, 0, 0))
    mesh = pl.shapes.cloth((1, 1), (4, 4)).transformed(translation=(2, 0, 0.5))
    sheet = scene.add_cloth(mesh, pl.StVenantKirchhoff(1e3, 1e3), density=0.2, tear_at=1.05, name="sheet")
    left, right = (np.flatnonzero(mesh.points[:, 0] == edge(mesh.points[:, 0])) for edge in (np.min, np.max))
    sheet.pin(left)
    sheet.move(right, pl.motions.Slide(mesh.points[right], velocity=(8.0, 0, 0)))
    points, edges = pl.shapes.rope([[0, 0, 0.4], [0, 0, 0.9]], 3)
    rope = scene.add_springs(points, edges, stiffness=200.0, mass=0.01, name="rope")
    rope.pin([3], until=10.0)
    scene.attach(block, [int(np.argmax(block.positions.sum(axis=1)))], rope, [0], stiffness=50.0)
    scene.add_mesh_obstacle(pl.shapes.cloth((4, 4), (2, 2)).transformed(translation=(0, 0, -0.2)))
    patch = pl.shapes.cloth((0.3, 0.3), (3, 3)).transformed(translation=(-1.03, 0.04, -0.1981))
    scene.add_cloth(patch, pl.StVenantKirchhoff(1e3, 1e3), density=0.2, damping=1e-2, name="patch")
    sim = pl.Simulation(scene, pl.VBD(iterations=3))
    for _ in range(12):
        sim.step()
    assert len(sheet.positions) > sheet.n_vertices
    sim.delete(block, [0])
    sim.step()
    return sim


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> tuple[pl.Simulation, Path]:
    path = tmp_path_factory.mktemp("checkpoint") / "whole.npz"
    sim = torn_scene()
    sim.save(path)
    return sim, path


def shorter(array: np.ndarray) -> np.ndarray | None:
    """Without the last row."""
    return array[:-1] if len(array) else None


def longer(array: np.ndarray) -> np.ndarray | None:
    """The last row twice."""
    return np.concatenate([array, array[-1:]]) if len(array) else None


def deeper(array: np.ndarray) -> np.ndarray:
    """Another axis."""
    return array[..., None]


def other_type(array: np.ndarray) -> np.ndarray:
    """Numbers of half the precision; truth values as numbers."""
    return array.astype({"f": np.float32, "i": np.int16, "b": np.float64}[array.dtype.kind])


def words(array: np.ndarray) -> np.ndarray:
    return array.astype(str)


def not_finite(array: np.ndarray) -> np.ndarray | None:
    if array.dtype.kind != "f" or array.size == 0:
        return None
    array.ravel()[array.size // 2] = np.nan
    return array


def beyond(array: np.ndarray) -> np.ndarray | None:
    """An index beyond everything."""
    if array.dtype.kind != "i" or array.size == 0:
        return None
    array.ravel()[0] = np.iinfo(array.dtype).max
    return array


def negative(array: np.ndarray) -> np.ndarray | None:
    """An index below everything."""
    if array.dtype.kind != "i" or array.size == 0:
        return None
    array.ravel()[-1] = -2
    return array


# an array of another length shows in those that must be as long: the points of a mesh in its elements
LENGTHS = (
    "mesh.points",
    "motion0",
    "origin",
    "contact.vertices",
    "contact.edges",
    "contact.pressing_keys",
    "vertices_a",
    "vertices_b",
)
MAY_SHRINK = ("topology.left", "topology.tets_left", "body2.release")
DAMAGES = (shorter, longer, deeper, other_type, words, not_finite, beyond, negative)


@pytest.mark.slow
def test_the_scene_has_arrays_of_every_kind(saved) -> None:
    _, path = saved
    with np.load(path) as file:
        kinds = {name.partition(".")[0].rstrip("0123456789") for name in file.files}
        assert kinds == {"header", "state", "topology", "contact", "body", "attachment"}
        for name in (
            "contact.vertices",
            "contact.edges",
            "state.internal_state",
            "body2.release0",
            "body1.motion0.points",
        ):
            assert file[name].size > 0, name


@pytest.mark.slow
def test_the_whole_file_resumes_with_the_same_bits(saved) -> None:
    sim, path = saved
    again = pl.Simulation.resume(path)
    np.testing.assert_array_equal(again.positions, sim.positions)
    np.testing.assert_array_equal(again.velocities, sim.velocities)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_arrays_are_refused_by_name(saved, tmp_path, damage: Callable) -> None:
    """One FileError for each: it names the array and the shape it has."""
    with np.load(saved[1]) as file:
        whole = dict(file)
    tried, accepted = 0, []
    for name in whole:
        damaged = None if name == "header" else damage(whole[name].copy())
        if damaged is None or (damage in (shorter, longer) and name.endswith(".mesh.elements")):
            continue  # one element more or less may be another scene, not a damage
        if damage is shorter and name.startswith(("topology.left", "topology.tets_left", "body2.release")):
            continue  # nor is it another state
        tried += 1
        np.savez(tmp_path / "damaged.npz", **{**whole, name: damaged})
        try:
            pl.Simulation.resume(tmp_path / "damaged.npz")
        except pl.FileError as error:
            message = str(error)
            group = name.partition(".")[0] if name.endswith(LENGTHS) else name
            named = (name, f"array {group}", f"arrays {group}", "the meshes of its bodies")
            assert any(words in message for words in named), (name, message)
            assert "shape" in message or "arrays" in message or "the meshes of its bodies" in message, message
            continue
        accepted.append(name)
    assert tried > 5
    assert not accepted


@pytest.mark.slow
def test_missing_and_unknown_arrays_are_refused(saved, tmp_path) -> None:
    with np.load(saved[1]) as file:
        whole = dict(file)
    for name in whole:
        if name in ("header", "contact.pressing_keys", "contact.no_self_contact"):
            continue
        np.savez(tmp_path / "damaged.npz", **{key: array for key, array in whole.items() if key != name})
        with pytest.raises(pl.FileError) as error:
            pl.Simulation.resume(tmp_path / "damaged.npz")
        assert name in str(error.value) or "missing" in str(error.value), name
    np.savez(tmp_path / "damaged.npz", **whole, **{"body0.colour": np.zeros(3)})
    with pytest.raises(pl.FileError, match=r"array body0\.colour has no place"):
        pl.Simulation.resume(tmp_path / "damaged.npz")


@pytest.mark.slow
def test_the_message_gives_the_shape_and_the_expected_one(saved, tmp_path) -> None:
    sim, path = saved
    with np.load(path) as file:
        whole = dict(file)
    n = len(sim.positions)
    np.savez(tmp_path / "damaged.npz", **{**whole, "state.v": whole["state.v"][: n - 3]})
    with pytest.raises(pl.FileError, match=rf"array state\.v has shape \({n - 3}, 3\) instead of \({n}, 3\)"):
        pl.Simulation.resume(tmp_path / "damaged.npz")
