"""Springs and attachments of infinite stiffness, strain limits, and linkages: what multipliers hold."""

import numpy as np
import pytest

import pliant as pl
from pliant.geometry import rotations
from pliant.scenes.files import load_scene, save_scene

G = 9.81
BOTH = pytest.mark.parametrize("solver", [pl.AVBD(), None], ids=["AVBD", "default"])


def strains(body: pl.Body, edges: np.ndarray, lengths: float | np.ndarray) -> np.ndarray:
    p = body.positions
    return np.linalg.norm(p[edges[:, 1]] - p[edges[:, 0]], axis=1) / lengths - 1


def hanging(segments: int, length: float, stiffness, mass) -> tuple[pl.Scene, pl.Body, np.ndarray]:
    points = np.zeros((segments + 1, 3))
    points[:, 2] = -length * np.arange(segments + 1)
    edges = np.column_stack([np.arange(segments), np.arange(1, segments + 1)])
    scene = pl.Scene()
    rope = scene.add_springs(points, edges, stiffness=stiffness, mass=mass)
    rope.pin([0])
    return scene, rope, edges


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "bound"), [("double", 2e-5), ("single", 2e-4)])
@BOTH
def test_eight_springs_in_series_reach_their_static_solution(
    solver: pl.Solver | None, precision: str, bound: float
) -> None:
    """k of 10 and 10,000 N/m in turn, 1 kg each, rest length 3 m, h = 1/60 s: lengths 3 + (8 - i) g / k_i.

    After 30 s, 1.4e-5 of the longest way is left in exact steps. In single precision positions of 16 m and more from
    the middle round by up to 1e-6 m, to which m / h^2 = 3600 N/m answers: 3.4e-3 N, or 0.3 mm of a spring of 10 N/m,
    and its neighbours' in addition, of at least 3.98 m.
    """
    k = np.where(np.arange(8) % 2 == 0, 10.0, 1e4)
    scene, rope, _ = hanging(8, 3.0, k, 1.0)
    rope.air_damping = 2.0
    sim = pl.Simulation(scene, solver, substeps=1, precision=precision)
    for _ in range(1800):
        sim.advance()
    lengths = np.diff(-rope.positions[:, 2])
    np.testing.assert_allclose(lengths, 3.0 + np.arange(8, 0, -1) * G / k, rtol=bound)


def test_rods_carry_fifty_thousand_times_their_mass() -> None:
    """50 rods of springs and 50,000 : 1, hanging, h = 1/300 s, 20 iterations: strains below 0.2 percent in 0.5 s."""
    mass = np.full(51, 0.1)
    mass[-1] = 5000.0
    scene, rope, edges = hanging(50, 0.5, np.inf, mass)
    sim = pl.Simulation(scene, pl.AVBD())
    worst = 0.0
    for _ in range(30):
        sim.advance()
        worst = max(worst, float(np.abs(strains(rope, edges, 0.5)).max()))
    assert worst < 2e-3


@pytest.mark.slow
def test_a_box_swings_on_a_rope_of_rods(tmp_path) -> None:
    """An attachment of infinite stiffness: gaps below 2e-4 m, rods of 0.1 m and 10 g longer by 1 percent at most; the
    same from a scene file.
    """
    points, edges = pl.shapes.chain(length=1.0, segments=10)
    scene = pl.Scene()
    rope = scene.add_springs(points, edges, stiffness=np.inf, mass=0.01)
    rope.pin([0])
    end = rope.positions[-1]
    box = scene.add_rigid(pl.Box((0.2, 0.2, 0.2)), position=end - (0, 0, 0.1))
    scene.attach(rope, [10], box, [box.point(end)], np.inf)
    save_scene(scene, tmp_path / "scene.toml")
    sim = pl.Simulation(scene, pl.AVBD())
    worst, gap = 0.0, 0.0
    for _ in range(60):
        sim.advance()
        worst = max(worst, float(np.abs(strains(rope, edges, 0.1)).max()))
        at = box.position + rotations.matrices(box.orientation) @ (0, 0, 0.1)
        gap = max(gap, float(np.linalg.norm(at - rope.positions[-1])))
    assert worst < 0.01
    assert gap < 2e-4
    again = load_scene(tmp_path / "scene.toml")
    assert np.isinf(again.bodies[0].stiffness).all()
    assert np.isinf(again.attachments[0].stiffness)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "beyond"), [(0.01, 0.015), (0.0, 0.015)])
def test_cloth_stretches_no_further_than_its_limit(limit: float, beyond: float) -> None:
    """20 x 20 cells of 50 N/m that would stretch by 14 percent, on two corners after 1 s: within 1.5 percent of it."""
    mesh = pl.shapes.cloth((1, 1), (20, 20))
    scene = pl.Scene()
    cloth = scene.add_cloth(mesh, pl.StableNeoHookean.from_young(50.0, 0.3), strain_limit=limit)
    cloth.pin(np.flatnonzero((mesh.points[:, 0] < -0.499) & (np.abs(mesh.points[:, 1]) > 0.499)))
    sim = pl.Simulation(scene, pl.AVBD())
    for _ in range(60):
        sim.advance()
    lengths = np.linalg.norm(np.diff(mesh.points[mesh.edges], axis=1)[:, 0], axis=1)
    assert strains(cloth, mesh.edges, lengths).max() < limit + beyond


@pytest.mark.slow
@BOTH
def test_a_four_bar_linkage_stays_closed(solver: pl.Solver | None) -> None:
    """A parallelogram of rods driven at 2 rad/s for a second: hinges closed to 1e-4 m, the coupler level to 1e-3."""
    scene = pl.Scene(gravity=(0, 0, 0))
    bar = pl.Box((0.05, 0.05, 0.4))
    left = scene.add_rigid(bar, position=(0, 0, 0.2))
    right = scene.add_rigid(bar, position=(1, 0, 0.2))
    coupler = scene.add_rigid(pl.Box((1.0, 0.05, 0.05)), position=(0.5, 0, 0.4))
    drive = scene.add_joint("hinge", left, None, (0, 0, 0), (0, 1, 0), motor=pl.Motor(speed=2.0))
    scene.add_joint("hinge", right, None, (1, 0, 0), (0, 1, 0))
    scene.add_joint("hinge", coupler, left, (0, 0, 0.4), (0, 1, 0))
    scene.add_joint("hinge", coupler, right, (1, 0, 0.4), (0, 1, 0))
    sim = pl.Simulation(scene, solver, precision="double")
    pairs = next(block.elements for block in sim.model.blocks if type(block).__name__ == "JointLinks")
    worst = 0.0
    for _ in range(36):
        sim.advance()
        ends = sim.positions[pairs]
        worst = max(worst, float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max()))
    assert worst < 1e-4
    assert drive.position == pytest.approx(2.0 * sim.time, rel=2e-3)
    assert abs(coupler.orientation[0]) > 1 - 1e-6


def test_bad_limits_are_refused() -> None:
    points, edges = pl.shapes.chain(length=1.0, segments=2)
    scene = pl.Scene()
    with pytest.raises(pl.SceneError, match="strain_limit"):
        scene.add_springs(points, edges, stiffness=1.0, mass=1.0, strain_limit=-0.1)
    with pytest.raises(pl.SceneError, match="cannot tear"):
        scene.add_springs(points, edges, stiffness=1.0, mass=1.0, strain_limit=0.1, tear_at=1.5)
    with pytest.raises(pl.SceneError, match="do not stretch"):
        scene.add_springs(points, edges, stiffness=np.inf, mass=1.0, tear_at=1.5)
    with pytest.raises(pl.SceneError, match="stiffness"):
        scene.add_springs(points, edges, stiffness=-np.inf, mass=1.0)
    cloth = scene.add_cloth(pl.shapes.cloth((1, 1), (2, 2)), pl.StableNeoHookean.from_young(50.0, 0.3))
    rope = scene.add_springs(points, edges, stiffness=1.0, mass=1.0)
    with pytest.raises(pl.SceneError, match="stiffness is infinite"):
        scene.attach(cloth, [[0, 1]], rope, [0], np.inf, weights_a=[[0.5, 0.5]])
