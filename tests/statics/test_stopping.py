"""Ctrl-C in equilibria."""

import signal

import numpy as np
import pytest

import pliant as pl


def block(interrupted_at: int) -> tuple[pl.Scene, pl.Body]:
    """A block 2 cm above a plane; a force that sends Ctrl-C when it has been asked for so many times."""
    scene, calls = pl.Scene(), [0]
    mesh = pl.shapes.box((0.2, 0.2, 0.2), (2, 2, 2)).transformed(translation=(0, 0, 0.12))
    body = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3), name="block")
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    scene.contact = pl.Contact()

    def nothing(x: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
        calls[0] += 1
        if calls[0] == interrupted_at:
            signal.raise_signal(signal.SIGINT)
        return np.zeros_like(x)

    body.add_force(nothing)
    return scene, body


def test_ctrl_c_leaves_the_shape_that_the_solve_had_got_to(caplog):
    scene, body = block(interrupted_at=8)
    start = body.positions.copy()
    with pytest.raises(KeyboardInterrupt):
        pl.equilibrium(scene)
    way = body.positions - start
    assert way[:, 2].mean() < -1e-3
    assert np.isfinite(way).all()
    (message,) = [record.getMessage() for record in caplog.records if "stopped" in record.getMessage()]
    assert "of the forces out of balance; positions are those that it had got to" in message
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_same_solve_goes_on_without_it():
    scene, body = block(interrupted_at=-1)
    found = pl.equilibrium(scene)
    assert found.report.converged
    assert body.positions[:, 2].min() == pytest.approx(0, abs=1e-4)
