"""Which precision a simulation has that names none."""

import numpy as np
import pytest

import pliant as pl


def hanging_sheet(stiffness: float, gravity: float = 9.81) -> pl.Scene:
    """A sheet of 20 x 20 cells that hangs from two corners."""
    scene = pl.Scene(gravity=(0, 0, -gravity))
    mesh = pl.shapes.cloth((1.0, 1.0), (20, 20))
    law = pl.StVenantKirchhoff(mu=stiffness, lam=stiffness)
    sheet = scene.add_cloth(mesh, law, density=0.2, bending=1e-4)
    sheet.pin((mesh.points[:, 0] < -0.499) & (np.abs(mesh.points[:, 1]) > 0.499))
    return scene


def precision(scene: pl.Scene, solver: pl.Solver | None = None, **options: object) -> str:
    return pl.Simulation(scene, solver, threads=1, **options).execution.precision


def test_single_precision_where_it_is_enough():
    assert precision(hanging_sheet(100.0)) == "single"


def test_double_precision_where_rounding_would_outweigh_the_tolerance():
    """eps |x| h^2 k / m is 0.6 of h^2 g for 20,000 N/m on 0.2 kg/m^2."""
    assert precision(hanging_sheet(2e4)) == "double"


def test_what_is_named_stays():
    assert precision(hanging_sheet(2e4), precision="single") == "single"
    assert precision(hanging_sheet(100.0), precision="double") == "double"


def test_single_precision_without_a_tolerance_or_without_weight():
    assert precision(hanging_sheet(2e4), pl.VBD(iterations=20)) == "single"
    assert precision(hanging_sheet(2e4), pl.VBD(iterations=20, tolerance=0.01)) == "double"
    assert precision(hanging_sheet(2e4, gravity=0.0)) == "single"


def test_double_precision_for_loads_without_weight_on_stiff_bodies():
    """0.3 eps |x| h^2 k / m is 0.42 of a thousandth of the sheet's size for 100,000 N/m on 0.2 kg/m^2."""
    for stiffness, found in ((100.0, "single"), (1e5, "double")):
        scene = hanging_sheet(stiffness, gravity=0.0)
        scene.bodies[0].add_force(lambda x, v, time: np.full_like(x, 1e-3))
        assert precision(scene) == found


def test_rounding_at_the_start_agrees_with_the_estimate_within_a_step():
    sim = pl.Simulation(hanging_sheet(2e4), pl.Multilevel(pl.VBD(iterations=20)), threads=1, precision="single")
    at_start = sim._meter.rounding_at_start(sim.problem())
    sim.step()
    assert at_start == pytest.approx(sim._meter.error.rounding, rel=0.3)


def hanging_chain(stiffness: float) -> pl.Scene:
    """Ten springs of 0.1 m and eleven vertices of 50 g, the first one held."""
    points = np.zeros((11, 3))
    points[:, 2] = -0.1 * np.arange(11)
    scene = pl.Scene()
    numbers = np.arange(11)
    chain = scene.add_springs(points, np.column_stack([numbers[:-1], numbers[1:]]), stiffness, mass=0.05, damping=0.02)
    chain.pin(numbers == 0)
    return scene


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 1e5, 1e6, 1e7, 1e8])
def test_a_chain_rests_where_its_springs_carry_it(stiffness):
    """To 0.1 % of how far the weights below each spring stretch it, whatever the stiffness."""
    sim = pl.Simulation(hanging_chain(stiffness), substeps=1, frame_rate=300, threads=1)
    for _ in range(400):
        sim.step()
    ends = []
    for _ in range(50):
        sim.step()
        ends.append(sim.positions[-1, 2])
    assert np.mean(ends) + 1.0 == pytest.approx(-sum(range(1, 11)) * 0.05 * 9.81 / stiffness, rel=1e-3)


def test_double_precision_where_rounding_would_shift_what_rests():
    """0.3 eps |x| h^2 k / m is 0.006 and 0.03 of h^2 g for 200 and 1,000 N/m: 0.01 is allowed."""
    assert precision(hanging_sheet(200.0)) == "single"
    assert precision(hanging_sheet(1000.0)) == "double"


@pytest.mark.parametrize("stiffness", [2e4, 2e5])
def test_stiff_sheets_converge_on_levels(stiffness):
    """In single precision steps end by Newton's method, whose factors take 25 times as long."""
    sim = pl.Simulation(hanging_sheet(stiffness), threads=1)
    reference = pl.Simulation(hanging_sheet(stiffness), pl.Newton(iterations=40), threads=1, precision="double")
    for _ in range(20):
        report = sim.step()
        assert report.converged, report.reason
        assert "Newton" not in report.reason
        reference.step()
    fallen = np.abs(reference.positions - reference.model.positions).max()
    assert np.abs(sim.positions - reference.positions).max() < 2e-3 * fallen


def test_a_resumed_run_keeps_its_precision(tmp_path):
    sim = pl.Simulation(hanging_sheet(2e4), threads=1)
    sim.step()
    sim.save(tmp_path / "sheet.npz")
    resumed = pl.Simulation.resume(tmp_path / "sheet.npz", threads=1)
    assert resumed.execution.precision == "double"
    sim.step()
    resumed.step()
    assert np.array_equal(sim.positions, resumed.positions)
