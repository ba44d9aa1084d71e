"""Bad bodies and scenes: one error that names the object, the index, the value and the remedy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl

MESH = pl.shapes.box(cells=1)  # 8 vertices
SOFT = pl.StableNeoHookean.from_young(1e5, 0.4)


def body(name="cube"):
    return pl.Scene().add_solid(MESH, SOFT, name=name)


def says(error, *parts):
    """The message holds every part."""
    message = str(error.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"


@settings(deadline=None, derandomize=True)
@given(vertex=st.integers(0, 7), axis=st.integers(0, 2), bad=st.sampled_from([np.nan, np.inf, -np.inf]))
@pytest.mark.parametrize("method", ["set_positions", "set_velocities"])
def test_numbers_that_are_not_finite_are_named_by_vertex(method, vertex, axis, bad):
    """Object, method, vertex, value, remedy."""
    values = np.array(MESH.points)
    values[vertex, axis] = bad
    with pytest.raises(pl.SceneError) as error:
        getattr(body(), method)(values)
    says(error, f"cube.{method}", f"vertex {vertex} ", str(bad), "finite numbers [m")


@pytest.mark.parametrize("method", ["set_positions", "set_velocities"])
@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.zeros((7, 3)), "(7, 3)"),
        (np.zeros((8, 2)), "(8, 2)"),
        (np.zeros(24), "(24,)"),
        (1.0, "()"),
        ("here", "str"),
        (None, "NoneType"),
    ],
)
def test_wrong_shapes_and_types_are_refused(method, value, found):
    """The message says what came and what is wanted."""
    with pytest.raises(pl.SceneError) as error:
        getattr(body(), method)(value)
    says(error, f"cube.{method}", "(8, 3)", found)


@pytest.mark.parametrize(
    "method",
    [
        "set_positions",
        "set_velocities",
    ],
)
def test_ragged_lists_are_refused(method):
    with pytest.raises(pl.SceneError) as error:
        getattr(body(), method)([[0, 0, 0]] * 7 + [[0, 0]])
    says(error, f"cube.{method}", "(8, 3)", "list")


@pytest.mark.parametrize("method", ["set_positions", "set_velocities"])
def test_complex_numbers_are_refused(method):
    with pytest.raises(pl.SceneError) as error:
        getattr(body(), method)(np.full((8, 3), 1j))
    says(error, f"cube.{method}", "complex")


def test_one_velocity_is_for_all_vertices():
    cube = body()
    cube.set_velocities((1, 2, 3))
    np.testing.assert_array_equal(cube.initial_velocities, np.tile([1.0, 2.0, 3.0], (8, 1)))


@pytest.mark.parametrize(
    ("gravity", "parts"),
    [
        ((0, 0, np.nan), ("gravity", "entry 2", "nan", "finite")),
        ((np.inf, 0, 0), ("gravity", "entry 0", "inf", "finite")),
        ((0, -9.81), ("gravity", "(3,)", "(2,)")),
        (-9.81, ("gravity", "(3,)", "()")),
        ("down", ("gravity", "str")),
    ],
)
def test_bad_gravity(gravity, parts):
    with pytest.raises(pl.SceneError) as error:
        pl.Scene(gravity=gravity)
    says(error, *parts)


@settings(deadline=None, derandomize=True)
@given(density=st.one_of(st.floats(max_value=0.0), st.sampled_from([np.nan, np.inf])))
def test_density_must_be_positive(density):
    with pytest.raises(pl.SceneError) as error:
        pl.Scene().add_solid(MESH, SOFT, density=density, name="cube")
    says(error, "cube: density", repr(density), "positive", "[kg/m^3]")


@pytest.mark.parametrize("density", ["1000", None, True, [1000.0]])
def test_density_must_be_a_number(density):
    with pytest.raises(pl.SceneError) as error:
        pl.Scene().add_solid(MESH, SOFT, density=density)
    says(error, "solid0: density", repr(density), "positive", "[kg/m^3]")


@settings(deadline=None, derandomize=True)
@given(damping=st.one_of(st.floats(max_value=-1e-300), st.sampled_from([np.nan, np.inf])))
def test_damping_must_not_be_negative(damping):
    with pytest.raises(pl.SceneError) as error:
        pl.Scene().add_solid(MESH, SOFT, damping=damping)
    says(error, "solid0: damping", repr(damping), "zero or positive", "[s]")


def test_a_surface_is_no_solid():
    """A TriMesh is told apart and the way to a TetMesh is named."""
    with pytest.raises(pl.SceneError) as error:
        pl.Scene().add_solid(MESH.surface(), SOFT, name="skin")
    says(error, "skin", "TriMesh", "TetMesh", "tetrahedralize")


@pytest.mark.parametrize(
    ("material", "shown"),
    [(pl.StableNeoHookean, "class StableNeoHookean"), (1e5, "100000.0"), (None, "None"), ("rubber", "'rubber'")],
)
def test_a_material_is_an_object_of_a_law(material, shown):
    with pytest.raises(pl.SceneError) as error:
        pl.Scene().add_solid(MESH, material, name="cube")
    says(error, "cube", shown, "from_young")


def test_names_are_unique():
    scene = pl.Scene()
    scene.add_solid(MESH, SOFT, name="twin")
    with pytest.raises(pl.SceneError) as error:
        scene.add_solid(MESH, SOFT, name="twin")
    says(error, "'twin'", "choose another name")
    assert len(scene.bodies) == 1


def test_default_names_do_not_collide_with_given_ones():
    """An unnamed body gets a free name, even if a user took the next number."""
    scene = pl.Scene()
    scene.add_solid(MESH, SOFT, name="solid1")
    assert scene.add_solid(MESH, SOFT).name != "solid1"


def test_empty_scene():
    with pytest.raises(pl.SceneError) as error:
        pl.Simulation(pl.Scene(), pl.Newton())
    says(error, "empty", "add_solid")


def test_everything_pinned():
    scene = pl.Scene()
    scene.add_solid(MESH, SOFT).pin(np.arange(8))
    with pytest.raises(pl.SceneError) as error:
        pl.Simulation(scene, pl.Newton())
    says(error, "all 8 vertices", "free")
