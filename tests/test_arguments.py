"""Arguments of the wrong kind: one clear error, whatever they are, and no traceback from within."""

import numpy as np
import pytest

import pliant as pl
from pliant.arguments import is_finite_number, is_flag, is_one_of

LARGE = 10**400  # no float can hold it
ARRAY = np.zeros((2, 3))
TEXTS, OBJECTS = np.array(["a"]), np.array([None])
RAGGED = [[1, 2], [3]]
LAW = pl.StableNeoHookean.from_young(1e5, 0.3)
BOX = pl.shapes.box(cells=1)


@pytest.mark.parametrize("value", [None, "3", True, LARGE, 1j, np.nan, np.inf, ARRAY, [1.0]])
def test_what_is_no_finite_number(value):
    assert not is_finite_number(value)


def test_numbers_names_and_flags_of_numpy_are_taken():
    assert all(is_finite_number(value) for value in (0, -2.5, np.float32(1.5), np.int64(3)))
    assert is_one_of(np.str_("a"), ("a", "b"))
    assert not any(is_one_of(value, ("a", "b")) for value in ("c", None, ["a"], TEXTS, ARRAY))
    assert is_flag(np.True_)
    assert not any(is_flag(value) for value in (1, None, "yes", ARRAY))


CALLS = {
    "box: split": (lambda value: pl.shapes.box(cells=1, split=value), [["kuhn"], {}, TEXTS, ARRAY]),
    "box: size": (lambda value: pl.shapes.box((value, 1, 1), 1), [LARGE, "x", 1e308, 0.0]),
    "torus: major": (lambda value: pl.shapes.torus(major=value), [LARGE, 1e308]),
    "cylinder: cells": (lambda value: pl.shapes.cylinder(cells=value), [LARGE, TEXTS]),
    "net: diagonals": (lambda value: pl.shapes.net(cells=1, diagonals=value), [ARRAY, "no"]),
    "packed_spheres: jitter": (
        lambda value: pl.shapes.packed_spheres((1, 1, 1), 0.2, jitter=value),
        [None, "x", [], ARRAY],
    ),
    "packed_spheres: fill": (lambda value: pl.shapes.packed_spheres((1, 1, 1), 0.2, fill=value), [ARRAY, ["box"]]),
    "rope: path": (lambda value: pl.shapes.rope(value), [LARGE, RAGGED]),
    "TetMesh: orient": (lambda value: pl.TetMesh(BOX.points, BOX.tets, orient=value), [ARRAY, "yes"]),
    "from_young": (lambda value: pl.NeoHookean.from_young(value, 0.3), [TEXTS, OBJECTS, LARGE, "1e5", [1e5]]),
    "from_young: nu": (lambda value: pl.NeoHookean.from_young(1e5, value), [TEXTS, OBJECTS, LARGE, "0.3"]),
    "mu": (lambda value: pl.StableNeoHookean(value, 1e5), [TEXTS, OBJECTS, LARGE]),
    "particles: spin": (lambda value: pl.Scene().add_particles(np.eye(3), 0.1, spin=value), [ARRAY, "yes"]),
    "particles: points": (lambda value: pl.Scene().add_particles(value, 0.1), [RAGGED, 3.0, [], LARGE]),
    "particles: radius": (lambda value: pl.Scene().add_particles(np.eye(3), value), [LARGE, TEXTS, RAGGED]),
    "solid: element": (lambda value: pl.Scene().add_solid(BOX, LAW, element=value), [ARRAY, ["patch"]]),
    "solid: damping_form": (lambda value: pl.Scene().add_solid(BOX, LAW, damping_form=value), [ARRAY]),
    "cloth: bending_model": (
        lambda value: pl.Scene().add_cloth(pl.shapes.cloth(cells=1), LAW, bending_model=value),
        [ARRAY, ["dihedral"]],
    ),
    "pin: clamped": (lambda value: pl.Scene().add_solid(BOX, LAW).pin([0], clamped=value), [ARRAY]),
    "moment": (lambda value: pl.Scene().add_solid(BOX, LAW).add_moment([0, 1, 2, 3], value), [int, RAGGED]),
    "Slide: points": (lambda value: pl.motions.Slide(value, (0, 0, 1)), [RAGGED, LARGE, TEXTS]),
    "Schedule": (lambda value: pl.Schedule(value, [1.0]), [LARGE, RAGGED, TEXTS]),
    "Schedule: repeat": (lambda value: pl.Schedule([1.0], [1.0], repeat=value), [ARRAY]),
    "Animation": (lambda value: pl.Animation([[0, 1, 2]], value, [0.0]), [LARGE, "x", RAGGED, TEXTS, object()]),
    "Animation: repeat": (lambda value: pl.Animation([[0, 1, 2]], [np.eye(3)], [0.0], value), [ARRAY, "yes"]),
    "from_frames": (lambda value: pl.Animation.from_frames([[0, 1, 2]], value), [RAGGED, 3, "x"]),
    "mannequin": (lambda value: pl.Animation.walking_mannequin(frame_rate=value), [LARGE, 1e308, "x", ARRAY]),
    "start": (lambda value: pl.VBD(start=value), [ARRAY, ["inertia"], None]),
    "rho": (lambda value: pl.Chebyshev(pl.VBD(), value), [ARRAY, LARGE, "x", None, np.zeros(1)]),
    "residual": (lambda value: pl.Newton(residual=value), [None, "x", ARRAY, LARGE]),
    "linear": (lambda value: pl.Newton(linear=value), [ARRAY, ["cg"]]),
    "mode": (lambda value: pl.GPBD(mode=value), [ARRAY, ["jacobi"]]),
    "friction": (lambda value: pl.VelocityTimeStepping(friction=value), [["cone"], {}, ARRAY]),
    "settling": (lambda value: pl.SequentialPositions(settling=value), [ARRAY, -1, "x"]),
    "omega": (lambda value: pl.Jacobi(omega=value), [LARGE, ARRAY]),
    "weights": (lambda value: pl.Jacobi(weights=value), [ARRAY]),
    "Stop": (lambda value: pl.Stop(iterations=value), [ARRAY, "x"]),
    "schedule": (lambda value: pl.OpenCL(schedule=value), [["items"], {}, ARRAY]),
    "stiffness": (lambda value: pl.Contact(stiffness=value), [LARGE, ARRAY, "x"]),
    "guarantee": (lambda value: pl.Contact(guarantee=value), [ARRAY, 1, "x"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_give_one_error(name):
    call, values = CALLS[name]
    for value in values:
        with pytest.raises(pl.PliantError):
            call(value)
