"""Selecting vertices and holding them: pins, motions, lines, planes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl

MESH = pl.shapes.box(cells=1)  # 8 vertices
SOFT = pl.StableNeoHookean.from_young(1e5, 0.4)


def body():
    return pl.Scene().add_solid(MESH, SOFT, name="cube")


def still(time):
    return np.zeros((1, 3))


HOLDS = {
    "pin": lambda cube, vertices: cube.pin(vertices),
    "move": lambda cube, vertices: cube.move(vertices, still),
    "constrain_to_line": lambda cube, vertices: cube.constrain_to_line(vertices, (0, 0, 1)),
    "constrain_to_plane": lambda cube, vertices: cube.constrain_to_plane(vertices, (0, 0, 1)),
}
every_hold = pytest.mark.parametrize("how", HOLDS)


def says(error, *parts):
    message = str(error.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"


@every_hold
@settings(deadline=None, derandomize=True)
@given(vertex=st.one_of(st.integers(-(2**40), -1), st.integers(8, 2**40)))
def test_indices_out_of_range_are_named(how, vertex):
    """Negative ones too: -1 is not the last vertex."""
    with pytest.raises(pl.SceneError) as error:
        HOLDS[how](body(), [0, vertex])
    says(error, f"cube.{how}", f"vertex {vertex} ", "0 to 7")


@every_hold
@pytest.mark.parametrize(
    ("vertices", "parts"),
    [
        ([0.0, 1.0], ("whole numbers", "mask", "float64")),
        ([[0, 1], [2, 3]], ("one dimension", "(2, 2)")),
        (["0"], ("whole numbers",)),
        ([], ("no vertices", "condition")),
        (np.zeros(8, bool), ("no vertices", "condition")),
        (np.ones(7, bool), ("mask", "(7,)", "8 vertices")),
        (np.ones((8, 1), bool), ("mask", "(8, 1)", "8 vertices")),
        ([3, 1, 3, 3], ("vertex 3", "3 times", "once")),
    ],
)
def test_bad_selections(how, vertices, parts):
    cube = body()
    with pytest.raises(pl.SceneError) as error:
        HOLDS[how](cube, vertices)
    says(error, f"cube.{how}", *parts)
    assert (cube.subspace == 3).all()
    assert cube.motions == []


@every_hold
def test_ragged_selections(how):
    with pytest.raises(pl.SceneError, match=f"cube.{how}.*whole numbers"):
        HOLDS[how](body(), [[0, 1], [2]])


@every_hold
@pytest.mark.parametrize("first", HOLDS)
def test_a_vertex_is_held_in_one_way(how, first):
    """Every pair of holds conflicts, except pinning what is pinned; the vertex is named and nothing changes."""
    cube = body()
    HOLDS[first](cube, [5])
    before = cube.subspace.copy()
    if how == first == "pin":
        cube.pin([4, 5])
        assert (np.flatnonzero(cube.subspace == 0) == [4, 5]).all()
        return
    with pytest.raises(pl.SceneError) as error:
        HOLDS[how](cube, [4, 5])
    says(error, f"cube.{how}", "vertex 5", "one way")
    np.testing.assert_array_equal(cube.subspace, before)
    assert len(cube.motions) == (first == "move")


def test_masks_and_indices_select_the_same():
    one, other = body(), body()
    mask = MESH.points[:, 0] < 0
    one.pin(mask)
    other.pin(np.flatnonzero(mask).astype(np.uint8))
    np.testing.assert_array_equal(one.subspace, other.subspace)
    np.testing.assert_array_equal(one.subspace == 0, mask)


def test_a_motion_must_be_a_function():
    with pytest.raises(pl.SceneError) as error:
        body().move([0], [0.0, 0.0, 1.0])
    says(error, "cube.move", "[0.0, 0.0, 1.0]", "function of the time")


@pytest.mark.parametrize(("how", "what"), [("constrain_to_line", "direction"), ("constrain_to_plane", "normal")])
@pytest.mark.parametrize("vector", [(0, 0, 0), (0, np.nan, 0), (1, 0), "up"])
def test_directions_need_a_direction(how, what, vector):
    with pytest.raises(pl.SceneError) as error:
        getattr(body(), how)([0], vector)
    says(error, f"cube.{how}: {what}")


@settings(deadline=None, derandomize=True)
@given(scale=st.floats(1e-140, 1e140))
def test_directions_may_have_any_length(scale):
    """They are normalised."""
    cube = body()
    cube.constrain_to_line([2], (3 * scale, 0, 4 * scale))
    np.testing.assert_allclose(cube.directions[2], [0.6, 0, 0.8], rtol=1e-12)


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        (np.zeros((2, 3)), ("(1, 3)", "(2, 3)")),
        (np.zeros(3), ("(1, 3)", "(3,)")),
        (np.full((1, 3), np.nan), ("vertex 0", "nan", "finite")),
        (None, ("(1, 3)",)),
        ("up", ("(1, 3)", "str")),
    ],
)
def test_a_bad_motion_is_told_at_its_step_with_body_and_time(result, parts):
    """The second of two steps of 0.25 s goes wrong; the state after the first stays."""
    scene = pl.Scene()
    scene.add_solid(MESH, SOFT, name="cube").move([0], lambda t: MESH.points[:1] if t < 0.3 else result)
    sim = pl.Simulation(scene, pl.Newton(iterations=1), frame_rate=4, substeps=1)
    sim.step()
    kept = sim.positions
    with pytest.raises(pl.SceneError) as error:
        sim.step()
    says(error, "cube: motion at t = 0.5 s", *parts)
    np.testing.assert_array_equal(sim.positions, kept)
    assert sim.time == 0.25


def test_moving_single_components():
    """Both ends of a spring slide along x as prescribed and fall freely; a pinned component stays."""
    scene = pl.Scene()
    rope = scene.add_springs([[0, 0, 0], [0, 1, 0]], [[0, 1]], stiffness=10.0, mass=0.1)
    rope.pin([0, 1], components="y")
    rope.move([0, 1], lambda t: rope.initial_positions + np.array([0.5 * t, 7.0, 9.0]), components="x")
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=60, substeps=1, precision="double")
    for _ in range(10):
        sim.step()
    np.testing.assert_allclose(sim.positions[:, 0], 0.5 * sim.time, rtol=1e-14)
    np.testing.assert_array_equal(sim.positions[:, 1], [0.0, 1.0])
    np.testing.assert_allclose(sim.positions[:, 2], -9.81 * sim.h**2 * 10 * 11 / 2, rtol=1e-10)


@pytest.mark.parametrize("motion", [None, "slide"])
def test_moved_components_are_kept_in_checkpoints(tmp_path, motion):
    """The same bits after resuming, with a Python function that is passed again and with a motion that files hold."""
    scene = pl.Scene()
    rope = scene.add_springs([[0, 0, 0], [0, 1, 0]], [[0, 1]], stiffness=10.0, mass=0.1, name="rope")
    led = (
        (lambda t: np.array([[0.5 * t, 0, 0]])) if motion is None else pl.motions.Slide([[0, 0, 0]], velocity=(1, 1, 1))
    )
    rope.move([0], led, components="x")
    sim = pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=60, substeps=1, precision="double")
    sim.step()
    sim.save(tmp_path / "run.npz")
    again = pl.Simulation.resume(tmp_path / "run.npz", motions={"rope": [led]} if motion is None else {})
    for run in (sim, again):
        run.step()
    np.testing.assert_array_equal(again.positions, sim.positions)
    assert sim.positions[0, 2] < -1e-3


def test_components_that_are_held_cannot_be_moved():
    scene = pl.Scene()
    rope = scene.add_springs([[0, 0, 0], [0, 1, 0]], [[0, 1]], stiffness=10.0, mass=0.1)
    rope.pin([1], components="xz")
    with pytest.raises(
        pl.SceneError, match=r"move: vertex 1 is already moved, held in a component that is to be moved"
    ):
        rope.move([0, 1], lambda t: rope.initial_positions, components="x")
    with pytest.raises(pl.SceneError, match=r"move: components is 'w'"):
        rope.move([0], lambda t: rope.initial_positions, components="w")


def test_clamped_sheets_and_rods_hold_two_rows():
    """The rows at an end of a sheet and the two vertices at an end of a rod; of a solid it is refused."""
    scene = pl.Scene()
    mesh = pl.shapes.cloth((1.0, 0.5), (4, 2))
    sheet = scene.add_cloth(mesh, pl.StableNeoHookean(1.0, 1.0))
    sheet.pin(np.isclose(mesh.points[:, 0], -0.5), clamped=True)
    np.testing.assert_array_equal(sheet.subspace == 0, mesh.points[:, 0] < -0.2)
    points, edges = pl.shapes.chain(1.0, 5)
    rod = scene.add_springs(points, edges, stiffness=1.0, mass=0.1, bending=1e-3)
    rod.pin([0], clamped=True)
    np.testing.assert_array_equal(np.flatnonzero(rod.subspace == 0), [0, 1])
    with pytest.raises(pl.SceneError, match=r"cube\.pin: clamped is for sheets and rods"):
        body().pin([0], clamped=True)
