"""The time loop: the same bits on any number of threads, reports, energies, observers, breakdowns."""

from dataclasses import dataclass

import numpy as np
import pytest

import pliant as pl


def two_bodies(star, gravity=(0, 0, -9.81), damping=0.0):
    """A star of one law and a block of another, deformed and moving."""
    block = pl.shapes.box((0.3, 0.2, 0.2), (3, 2, 2))
    scene = pl.Scene(gravity)
    first = scene.add_solid(star, pl.StableNeoHookean.from_young(1e5, 0.4), damping=damping, name="star")
    second = scene.add_solid(block, pl.StVenantKirchhoff.from_young(2e5, 0.3), 500.0, damping, name="block")
    first.set_positions(star.points * (1.2, 0.9, 1.0))
    second.set_velocities(np.cross((1.0, 2.0, 3.0), block.points))
    return scene, first, second


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("accelerated", [False, True], ids=["VBD", "Chebyshev"])
def test_any_number_of_threads_gives_the_same_bits(star, precision, accelerated):
    """Ten frames of two laws and a hub vertex, on 1, 2, 3 and 5 threads."""
    solver = pl.VBD(iterations=5)
    solver = pl.Chebyshev(solver, 0.8) if accelerated else solver
    results = []
    for threads in (1, 2, 3, 5):
        sim = pl.Simulation(two_bodies(star)[0], solver, substeps=2, precision=precision, threads=threads)
        for _ in sim.frames(10):
            pass
        results.append((sim.positions, sim.velocities))
    for x, v in results[1:]:
        np.testing.assert_array_equal(x, results[0][0])
        np.testing.assert_array_equal(v, results[0][1])


def test_time_steps_and_frames():
    """h = 1 / (frame_rate * substeps); a frame is `substeps` steps; frames yields their numbers."""
    scene = pl.Scene()
    scene.add_solid(pl.shapes.box(cells=1), pl.StableNeoHookean.from_young(1e5, 0.3))
    sim = pl.Simulation(scene, frame_rate=50, substeps=4)
    assert sim.h == 1 / 200
    sim.step()
    assert sim.time == 1 / 200
    sim.advance()
    assert sim.state.step == 5
    assert list(sim.frames(3)) == [0, 1, 2]
    assert sim.time == 17 / 200


def test_velocity_is_the_step_over_h(make_simulation):
    """Equation 6."""
    sim = make_simulation(held=True)
    before = sim.positions
    sim.step()
    np.testing.assert_allclose(sim.velocities, (sim.positions - before) / sim.h, rtol=1e-14)


def test_report_of_a_step(make_simulation):
    """Iterations, reason, seconds, and the residual of the very problem the step solved."""
    sim = make_simulation(held=True, damping=1e-3, solver=pl.VBD(iterations=3))
    problem = sim.problem()
    report = sim.step()
    assert report.iterations == 3
    assert report.reason == "did all 3 iterations"
    assert report.seconds > 0
    assert report.residual == pytest.approx(problem.residual(sim.positions), rel=1e-12)
    assert report.residual > 1e-6
    assert report.measured_at == [3]


def test_the_problem_of_a_rolling_ball_is_that_of_its_step():
    """Its contact point moves on around it while the step begins; friction is measured from there in both."""
    scene = pl.Scene(gravity=(0, 0, -9.81))
    ball = scene.add_rigid(pl.Sphere(0.12), position=(0, 0, 0.12), velocity=(1.6, 0, 0), angular_velocity=(0, 13.3, 0))
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.4)
    sim = pl.Simulation(scene, pl.VBD(iterations=30), precision="double")
    for _ in range(5):
        sim.step()
    problem = sim.problem()
    solved = pl.solve(problem, pl.Newton(iterations=12), measure_every=12)
    sim.step()
    assert solved.residual < 1e-8
    np.testing.assert_allclose(solved.x, sim.positions, atol=1e-9)
    assert ball.velocity[0] == pytest.approx(1.6, rel=1e-3)


def test_an_old_report_says_that_it_is_too_late(make_simulation):
    """Unless its residual was asked for in time."""
    sim = make_simulation(solver=pl.VBD(iterations=3))
    asked, missed = sim.step(), None
    residual = asked.residual
    missed = sim.step()
    sim.step()
    assert asked.residual == residual
    with pytest.raises(pl.SimulationError, match=r"residual of step 2 .* before the next step"):
        _ = missed.residual


def test_looking_at_the_next_problem_changes_nothing(make_simulation):
    """problem() is a look ahead: the last report's residual and the energies stay what they were."""
    one, other = (make_simulation(solver=pl.VBD(iterations=3), damping=1e-3) for _ in range(2))
    plain, looked = one.step(), other.step()
    other.problem()
    assert looked.residual == plain.residual
    assert other.energies() == one.energies()


def test_a_report_of_a_step_holds_no_buffer_of_the_simulation(make_simulation):
    """Positions are the simulation's to give: a report that held its array would change with later steps."""
    assert make_simulation(solver=pl.VBD(iterations=3)).step().x is None


def test_problem_has_arrays_of_its_own(make_simulation):
    """A problem taken now stays the same problem while the simulation goes on."""
    sim = make_simulation(solver=pl.VBD(iterations=3))
    problem = sim.problem()
    x = problem.x_guess + 1e-3
    energy = problem.energy(x)
    for _ in range(3):
        sim.step()
    assert problem.energy(x) == energy


def test_energies_by_hand(star, elastic_energy):
    """1/2 m v^2, V psi, -m g x, their sum, and the last step's inertia and damping terms."""
    scene, *_ = two_bodies(star, damping=1e-3)
    sim = pl.Simulation(scene, pl.VBD(iterations=4), precision="double")
    start = sim.energies()
    assert start["inertia"] == start["damping"] == 0
    problem = sim.problem()
    sim.step()
    m, x, v = sim.model.mass, sim.positions, sim.velocities
    expected = problem.energies(x)
    expected["elastic"] = elastic_energy(problem, x)
    expected["kinetic"] = sum(0.5 * m[i] * v[i] @ v[i] for i in range(len(m)))
    expected["gravity"] = sum(m[i] * 9.81 * x[i, 2] for i in range(len(m)))
    expected["total"] = expected["kinetic"] + expected["elastic"] + expected["gravity"]
    assert sim.energies() == pytest.approx(expected, rel=1e-10)
    assert expected["inertia"] > 0
    assert expected["damping"] > 0


def test_total_energy_does_not_rise_in_free_vibration(star):
    """Implicit Euler dissipates: converged steps lose energy, every one."""
    scene, *_ = two_bodies(star, gravity=(0, 0, 0))
    sim = pl.Simulation(scene, pl.VBD(iterations=80), frame_rate=100, substeps=1, precision="double")
    course = [sim.energies()["total"]]
    for _ in range(30):
        sim.step()
        course.append(sim.energies()["total"])
    assert np.diff(course).max() < 0


def test_body_positions_are_a_slice_of_all(star):
    """Before the simulation the initial ones; in it, each body's part, as a copy."""
    scene, first, second = two_bodies(star)
    np.testing.assert_array_equal(first.positions, star.points * (1.2, 0.9, 1.0))
    sim = pl.Simulation(scene, pl.VBD(iterations=2))
    sim.advance()
    n = star.n_vertices
    np.testing.assert_array_equal(first.positions, sim.positions[:n])
    np.testing.assert_array_equal(second.positions, sim.positions[n:])
    first.positions[:] = 0
    sim.positions[:] = 0
    assert np.abs(sim.positions).max() > 0.1


def test_observers_get_state_and_report_after_every_step(make_simulation):
    sim = make_simulation(solver=pl.VBD(iterations=2))
    seen = []
    sim.observers.append(lambda state, report: seen.append((state.step, state.x.copy(), report)))
    positions, reports = [], []
    for _ in range(3):
        reports.append(sim.step())
        positions.append(sim.positions)
    assert [step for step, _, _ in seen] == [1, 2, 3]
    assert [report for _, _, report in seen] == reports
    for (_, x, _), expected in zip(seen, positions, strict=True):
        np.testing.assert_array_equal(x, expected)


@dataclass(frozen=True)
class Broken(pl.VBD):
    """Writes NaN to one vertex in the second step."""

    vertex: int = 0

    def sweep(self, problem, x, work, n=1, momentum=None):
        if problem.x_prev[0, 0] != problem.model.positions[0, 0]:
            x[self.vertex, 1] = np.nan
        return pl.SweepResult(n)


def test_a_step_that_breaks_down_names_the_vertex_and_keeps_the_state(star):
    """The vertex as its user knows it, the time, the remedy; the state is the one before."""
    scene, *_ = two_bodies(star)
    sim = pl.Simulation(scene, Broken(vertex=star.n_vertices + 7), frame_rate=10, substeps=1)
    scene.bodies[0].set_velocities((1, 1, 1))
    sim.state.v[:] = 1.0
    sim.step()
    before = sim.state.copy()
    with pytest.raises(pl.SimulationError, match=r"t = 0\.1 s .* 1 of .* vertex 7 of block.*substeps"):
        sim.step()
    np.testing.assert_array_equal(sim.positions, before.x)
    np.testing.assert_array_equal(sim.velocities, before.v)
    assert sim.time == 0.1
    assert sim.energies()["kinetic"] == pytest.approx(0.5 * sim.model.mass @ np.sum(before.v**2, axis=1))


def test_energies_after_a_breakdown_are_those_of_the_state_that_is_kept(star):
    scene, *_ = two_bodies(star, damping=1e-3)
    sim = pl.Simulation(scene, Broken(), frame_rate=10, substeps=1)
    sim.state.v[:] = 1.0
    sim.step()
    before = sim.energies()
    with pytest.raises(pl.SimulationError):
        sim.step()
    after = sim.energies()
    of_the_state = ("kinetic", "elastic", "gravity", "total")
    assert [after[name] for name in of_the_state] == [before[name] for name in of_the_state]
    assert (after["inertia"], after["damping"]) == (0, 0)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_positions_beyond_all_numbers_are_told(precision):
    """A StVK block thrown apart at 1e180 m/s overflows its squares; no state with NaN is ever kept."""
    mesh = pl.shapes.box(cells=1)
    scene = pl.Scene()
    body = scene.add_solid(mesh, pl.StVenantKirchhoff.from_young(1e6, 0.3), name="block")
    body.set_velocities(1e180 * mesh.points)
    sim = pl.Simulation(scene, pl.VBD(iterations=3), precision=precision)
    with pytest.raises(pl.SimulationError, match=r"no finite position .* of block"):
        sim.step()
    np.testing.assert_array_equal(sim.positions, mesh.points)
