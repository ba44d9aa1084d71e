"""Bad settings of a simulation: one error that names the setting, its value and the remedy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant as pl


def simulation(**options):
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.4))
    return pl.Simulation(scene, **{"solver": pl.Newton(), **options})


def says(error, *parts):
    message = str(error.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"


@settings(deadline=None, derandomize=True)
@given(value=st.one_of(st.floats(max_value=0.0), st.integers(max_value=0), st.sampled_from([np.nan, np.inf, "60"])))
def test_frame_rate_must_be_positive(value):
    with pytest.raises(pl.PliantError) as error:
        simulation(frame_rate=value)
    says(error, "frame_rate", repr(value), "positive", "[1/s]")


@settings(deadline=None, derandomize=True)
@given(value=st.one_of(st.integers(max_value=0), st.floats(), st.sampled_from([True, "5", None, 2.5])))
def test_substeps_must_be_a_whole_number(value):
    with pytest.raises(pl.PliantError) as error:
        simulation(substeps=value)
    says(error, "substeps", repr(value), "whole number of at least 1")


@settings(deadline=None, derandomize=True)
@given(value=st.one_of(st.integers(max_value=0), st.floats(), st.sampled_from([True, "2"])))
def test_threads_must_be_a_whole_number(value):
    with pytest.raises(pl.PliantError) as error:
        simulation(threads=value)
    says(error, "threads", repr(value), "whole number of at least 1")


@pytest.mark.parametrize("value", ["half", "float32", 32])
def test_precision_is_single_or_double(value):
    with pytest.raises(pl.PliantError) as error:
        simulation(precision=value)
    says(error, "precision", repr(value), "'single' or 'double'")


@pytest.mark.parametrize("n", [0, -1, 1.5, "10", None])
def test_number_of_frames(n):
    """Told when frames() is called, before anything moves."""
    sim = simulation()
    with pytest.raises(pl.PliantError) as error:
        sim.frames(n)
    says(error, "n is", repr(n), "whole number of at least 1")


@pytest.mark.parametrize(
    "solver",
    [
        "VBD",
        20,
        pl.VBD,
    ],
)
def test_solver_must_be_a_solver_object(solver):
    """A name, a number or a class without parentheses is told how to make one."""
    with pytest.raises(pl.SolverError) as error:
        simulation(solver=solver)
    says(error, "solver", "VBD(iterations=20)")


@pytest.mark.parametrize("precision", ["single", "double"])
def test_every_error_is_a_pliant_error(precision):
    """One except clause is enough, and Python's own kinds work too."""
    with pytest.raises(pl.PliantError):
        simulation(substeps=0, precision=precision)
    with pytest.raises(ValueError, match="substeps"):
        simulation(substeps=0, precision=precision)
