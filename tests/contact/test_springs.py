"""Ropes against ropes, sheets and solids: edges with a radius, which keep their sides."""

import numpy as np

import pliant as pl

G = 9.81
LAW = pl.StableNeoHookean.from_young(1e5, 0.3)


def rope(scene: pl.Scene, start, end, segments: int = 9, mass: float = 0.01, stiffness: float = 2000.0):
    points = np.linspace(start, end, segments + 1)
    edges = np.column_stack([np.arange(segments), np.arange(1, segments + 1)])
    return scene.add_springs(points, edges, stiffness=stiffness, mass=mass)


def scene_of(**contact: float) -> pl.Scene:
    scene = pl.Scene()
    scene.contact = pl.Contact(friction=0.5, **contact)
    return scene


def least_distance(x: np.ndarray, one: np.ndarray, other: np.ndarray) -> float:
    """Between segments, on a fine grid."""
    t = np.linspace(0, 1, 41)[:, None]
    a = np.concatenate([x[i] + t * (x[j] - x[i]) for i, j in one])
    b = np.concatenate([x[i] + t * (x[j] - x[i]) for i, j in other])
    return float(np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2).min()))


def test_a_rope_hangs_over_another() -> None:
    """Across one that is held: it would fall by 0.44 m in 0.3 s, and stays above it, no nearer than half the thickness;
    the force between them is on both.
    """
    scene = scene_of()
    held = rope(scene, (-0.4, 0.03, 0), (0.4, 0.03, 0))
    held.pin(np.arange(10))
    falling = rope(scene, (0.02, -0.45, 0.05), (0.02, 0.45, 0.05))
    sim = pl.Simulation(scene, pl.VBD(iterations=60))
    thickness = 2 * sim.model.contact.radius[0]
    for _ in range(18):
        sim.advance()
    x = sim.positions
    assert x[10:, 2].max() > 0
    assert least_distance(x, held.edges, falling.edges + 10) > 0.5 * thickness
    assert falling.contact_force[2] > 0
    np.testing.assert_allclose(held.contact_force, -falling.contact_force, atol=1e-12)


def test_a_rope_lies_on_a_sheet_and_on_a_solid() -> None:
    """Neither is passed: the sheet is held, with cells of 0.5 m that vertices of the rope meet between theirs; the
    block is 4 cm wide, between two vertices of the rope.
    """
    scene = scene_of()
    sheet = scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), LAW, density=0.2)
    sheet.pin(np.arange(sheet.n_vertices))
    on_sheet = rope(scene, (-0.3, 0.1, 0.04), (0.32, 0.07, 0.04))
    mesh = pl.shapes.box((0.04, 0.4, 0.1), (1, 1, 1)).transformed(translation=(2, 0, -0.05))
    block = scene.add_solid(mesh, LAW)
    block.pin(np.arange(block.n_vertices))
    over_block = rope(scene, (1.55, 0.02, 0.03), (2.45, 0.02, 0.03))
    sim = pl.Simulation(scene, pl.VBD(iterations=60))
    for _ in range(18):
        sim.advance()
    assert on_sheet.positions[:, 2].min() > 0
    assert over_block.positions[4:6, 2].mean() > -0.02
    assert over_block.contact_force[2] > 0


def test_a_fast_rope_does_not_pass_a_rope() -> None:
    """At 50 m/s it moves by 17 cm per step, 18 thicknesses; where it crosses the other one it stays above."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact()
    held = rope(scene, (-0.4, 0.03, 0), (0.4, 0.03, 0))
    held.pin(np.arange(10))
    fast = rope(scene, (0.02, -0.45, 0.3), (0.02, 0.45, 0.3), stiffness=2e4)
    fast.set_velocities((0, 0, -50))
    sim = pl.Simulation(scene, pl.VBD(iterations=60))
    for _ in range(4):
        sim.step()
    ends = fast.positions[fast.edges]
    ends = ends[(ends[:, 0, 1] - 0.03) * (ends[:, 1, 1] - 0.03) < 0]
    part = (0.03 - ends[:, 0, 1]) / (ends[:, 1, 1] - ends[:, 0, 1])
    assert len(part) == 1
    assert fast.positions[:, 2].min() < -0.2  # its ends have passed by
    assert ends[0, 0, 2] + part[0] * (ends[0, 1, 2] - ends[0, 0, 2]) > 0


def test_diagonals_of_a_net_do_not_touch() -> None:
    """Two springs of one net that cross where they start: there is no contact between them."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact()
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    scene.add_springs(points, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)], stiffness=100.0, mass=1.0)
    sim = pl.Simulation(scene, pl.VBD(iterations=10))
    report = sim.step()
    assert report.contact.listed == 0
    np.testing.assert_allclose(sim.positions, points, atol=1e-9)


def test_two_ropes_keep_their_momentum() -> None:
    """One is thrown at the other, 40 iterations: energy does not rise, momentum stays to rounding."""
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.contact = pl.Contact()
    rope(scene, (-0.4, 0.03, 0), (0.4, 0.03, 0))
    thrown = rope(scene, (0.02, -0.45, 0.03), (0.02, 0.45, 0.03))
    thrown.set_velocities((0, 0, -1))
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    start, before = sim.energies()["total"], sim.model.mass @ sim.velocities
    for _ in range(12):
        sim.advance()
        assert sim.energies()["total"] < start * (1 + 1e-6)
    assert sim.velocities[:10, 2].mean() < -0.1
    np.testing.assert_allclose(sim.model.mass @ sim.velocities, before, rtol=0, atol=1e-11)


def test_the_same_bits_on_any_number_of_threads_and_after_resume(tmp_path) -> None:
    results = []
    for threads in (1, 2):
        scene = scene_of()
        rope(scene, (-0.4, 0.03, 0), (0.4, 0.03, 0)).pin(np.arange(10))
        rope(scene, (0.02, -0.45, 0.02), (0.02, 0.45, 0.02))
        sim = pl.Simulation(scene, pl.VBD(iterations=10), threads=threads)
        for _ in range(20):
            sim.step()
        assert sim.n_contacts > 0
        sim.save(tmp_path / "run.npz")
        again = pl.Simulation.resume(tmp_path / "run.npz")
        for run in (sim, again):
            for _ in range(5):
                run.step()
        np.testing.assert_array_equal(sim.positions, again.positions)
        results.append(sim.positions)
    np.testing.assert_array_equal(*results)


def test_a_broken_spring_touches_nothing() -> None:
    """Deleted from the rope that is held, it lets the other one fall: by 0.11 m in 0.15 s."""
    scene = scene_of(thickness=0.01)
    held = rope(scene, (-0.4, 0.03, 0), (0.4, 0.03, 0), segments=1)
    held.pin([0, 1])
    falling = rope(scene, (0.02, -0.45, 0.02), (0.02, 0.45, 0.02))
    sim = pl.Simulation(scene, pl.VBD(iterations=40))
    for _ in range(20):
        sim.step()
    assert held.contact_force[2] < 0
    sim.delete(held, [0])
    for _ in range(45):
        sim.step()
    assert sim.n_contacts == 0
    assert falling.positions[:, 2].max() < -0.05
