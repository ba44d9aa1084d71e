"""Multipliers: hard contacts, friction that does not creep, joints that hold whatever the ratio of masses."""

import numpy as np
import pytest

import pliant as pl
from pliant.model import build_model
from pliant.solvers.avbd import largest_mass_ratio

G = 9.81


def box_on_a_slope(degrees: float, contact: pl.Contact | None = None, **placed) -> tuple[pl.Scene, pl.Body]:
    angle = np.radians(degrees)
    scene = pl.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)), contact=contact)
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.3)
    return scene, scene.add_rigid(pl.Box((0.4, 0.4, 0.2)), **{"position": (0, 0, 0.1), **placed})


def test_a_box_rests_without_sinking_in() -> None:
    """Its height to 1e-7 m and its weight to 0.2 percent, in single precision: a penalty sinks in by 5e-5 m."""
    scene, box = box_on_a_slope(0)
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(12):
        sim.advance()
    assert box.position[2] == pytest.approx(0.1, abs=1e-7)
    np.testing.assert_allclose(box.contact_force, (0, 0, box.mass * G), rtol=2e-3, atol=2e-3 * box.mass * G)


def test_what_sticks_does_not_creep() -> None:
    """tan(15 degrees) = 0.268 below mu = 0.3: less than 1e-12 m in half a second in double precision."""
    scene, box = box_on_a_slope(15)
    sim = pl.Simulation(scene, pl.AVBD(), precision="double")
    for _ in range(30):
        sim.advance()
    assert np.linalg.norm(box.position - (0, 0, 0.1)) < 1e-12
    friction = -box.mass * G * np.sin(np.radians(15))
    assert box.contact_force[0] == pytest.approx(friction, rel=1e-6)


def test_a_box_slides_above_the_angle_of_friction() -> None:
    """tan(20 degrees) = 0.364 above mu = 0.3: a = g (sin - mu cos) within 0.5 percent."""
    scene, box = box_on_a_slope(20)
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(30):
        sim.advance()
    angle = np.radians(20)
    assert box.velocity[0] / sim.time == pytest.approx(G * (np.sin(angle) - 0.3 * np.cos(angle)), rel=5e-3)


def test_a_given_stiffness_of_contacts_is_reproduced() -> None:
    """The compliant form: five contacts of K = 1e5 N/m carry the box, which sinks in by m g / (5 K)."""
    scene, box = box_on_a_slope(0, pl.Contact(stiffness=1e5))
    sim = pl.Simulation(scene, pl.AVBD(), precision="double")
    for _ in range(60):
        sim.advance()
    assert 0.1 - box.position[2] == pytest.approx(box.mass * G / 5e5, rel=1e-3)


def test_a_chain_carries_five_hundred_times_its_links() -> None:
    """Ten links and a cube of 500 times their mass: gaps below 1e-4 m, and the force of the top joint to 1 percent."""
    scene = pl.Scene()
    links = [scene.add_rigid(pl.Box((0.1, 0.1, 0.5)), position=(0, 0, -0.5 * k - 0.25)) for k in range(10)]
    mass = links[0].mass
    links.append(scene.add_rigid(pl.Box((1, 1, 1)), density=500 * mass, position=(0, 0, -5.5)))
    for k, link in enumerate(links):
        scene.add_joint("ball", link, links[k - 1] if k else None, point=(0, 0, -0.5 * k))
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(15):
        sim.advance()
    assert links[-1].position[2] == pytest.approx(-5.5, abs=2e-4)
    loads = np.concatenate([dual.multipliers for dual in sim._work.rows.duals.values()])
    assert np.abs(loads[0, 2]) == pytest.approx(510 * mass * G, rel=1e-2)


def test_the_same_bits_after_resume(tmp_path) -> None:
    """Multipliers of contacts and joints are in checkpoints."""
    scene, box = box_on_a_slope(10)
    bob = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), position=(0.3, 0, 0.4))
    scene.add_joint("ball", bob, box, point=(0.1, 0, 0.4))
    sim = pl.Simulation(scene, pl.AVBD(iterations=5))
    for _ in range(2):
        sim.advance()
    sim.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    for _ in range(2):
        sim.advance()
        resumed.advance()
    assert np.array_equal(sim.state.x, resumed.state.x)


@pytest.mark.slow
def test_ten_cubes_stand() -> None:
    """Flush, h = 1/300 s, 20 iterations: heights and sideways motion within 1 mm for 2 s."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    cubes = [scene.add_rigid(pl.Box((1, 1, 1)), position=(0, 0, k + 0.5)) for k in range(10)]
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(120):
        sim.advance()
    places = np.array([cube.position for cube in cubes])
    np.testing.assert_allclose(places[:, 2], np.arange(10) + 0.5, atol=1e-3)
    np.testing.assert_allclose(places[:, :2], 0.0, atol=1e-3)


@pytest.mark.slow
def test_heavy_cubes_stand_on_light_ones() -> None:
    """Cubes of 1, 2, 4 and 8 m upwards, 512 : 1 in mass: heights within 1 mm after 3 s."""
    scene = pl.Scene()
    scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    sizes = (1.0, 2.0, 4.0, 8.0)
    heights = np.cumsum(sizes) - 0.5 * np.array(sizes)
    cubes = [scene.add_rigid(pl.Box((s, s, s)), position=(0, 0, z)) for s, z in zip(sizes, heights, strict=True)]
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(180):
        sim.advance()
    np.testing.assert_allclose([cube.position[2] for cube in cubes], heights, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [pl.AVBD(), None], ids=["AVBD", "default"])
def test_a_rope_carries_fifty_thousand_times_its_links(solver: pl.Solver | None) -> None:
    """50 links hanging, h = 1/300 s, 20 iterations and the default: gaps below 1 percent of a link for 2 s."""
    scene = pl.Scene()
    links = [scene.add_rigid(pl.Box((0.2, 0.2, 0.5)), position=(0, 0, -0.5 * k - 0.25)) for k in range(50)]
    links.append(scene.add_rigid(pl.Box((1, 1, 1)), density=50000 * links[0].mass, position=(0, 0, -25.5)))
    for k, link in enumerate(links):
        scene.add_joint("ball", link, links[k - 1] if k else None, point=(0, 0, -0.5 * k))
    sim = pl.Simulation(scene, solver)
    pairs = next(block.elements for block in sim.model.blocks if type(block).__name__ == "JointLinks")
    worst = 0.0
    for _ in range(120):
        sim.advance()
        ends = sim.positions[pairs]
        worst = max(worst, float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max()))
    assert worst < 5e-3


def test_the_ratio_of_masses_that_joints_join() -> None:
    """Of a link of 1 kg and a weight of 8,000 kg on it; a body that touches nothing does not count."""
    scene = pl.Scene()
    link = scene.add_rigid(pl.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.05))
    weight = scene.add_rigid(pl.Box((2, 2, 2)), position=(0, 0, -1))
    scene.add_rigid(pl.Box((0.01, 0.01, 0.01)), position=(5, 0, 0))
    assert largest_mass_ratio(build_model(scene)) == 1.0
    scene.add_joint("ball", weight, link, point=(0, 0, 0))
    assert largest_mass_ratio(build_model(scene)) == pytest.approx(8000.0)
