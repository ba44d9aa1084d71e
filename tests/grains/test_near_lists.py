"""Lists of near spheres that are kept for several steps find whom a search in each step finds."""

import numpy as np

import pliant as pl
from pliant.constraints.rows import empty_rows
from pliant.grains.detection import GrainDetector
from pliant.grains.record import Motion
from pliant.grains.touching import no_points, no_triangles
from pliant.kernels.threads import Team
from pliant.model import build_model

TOLERANCE = 0.1  # of the smallest radius


def test_lists_find_whom_a_search_finds() -> None:
    """500 spheres of radii 0.5 to 1 that wander for 40 steps, some steps fast: the same pairs in each, from lists that
    last for some steps, are made again, and are not made while ways are long.
    """
    random = np.random.default_rng(4)
    radius = random.uniform(0.5, 1.0, 500)
    x = random.uniform(0.0, 12.0, (500, 3))
    scene = pl.Scene()
    scene.add_particles(x, radius=radius)
    model, rows = build_model(scene), [empty_rows(64, np.float32) for _ in range(2)]
    detectors = [
        GrainDetector(model, TOLERANCE, Team(1), no_points(), no_triangles(), keeps_lists=kept)
        for kept in (True, False)
    ]
    lists, found = [], 0
    for step in range(40):
        way = (0.3 if step in (20, 21) else 0.01) * random.normal(size=(500, 3))
        motion, pairs = Motion(x, x + way, np.ones(500), 0.01), []
        for k, detector in enumerate(detectors):
            rows[k], count = detector.detect(motion, 0.0, rows[k], 0)
            pairs.append({tuple(pair) for pair in rows[k].vertices[:count, :2].tolist()})
            assert len(pairs[-1]) == count
        assert pairs[0] == pairs[1]
        found += len(pairs[0])
        lists.append(detectors[0].lists.places)
        x = x + way
    assert found > 40 * 500
    assert not len(lists[20])
    made = {id(places) for places in lists if len(places)}
    assert 2 < len(made) < 20


def test_a_run_goes_on_from_a_checkpoint_with_the_lists_of_before(tmp_path) -> None:
    """The order of contacts, and so rounding, is that of when lists were made: the same bits, 20 steps later."""
    scene = pl.Scene()
    points = pl.shapes.packed_spheres((0.08, 0.08, 0.08), radius=0.01, spacing=1.02, jitter=0.5)
    scene.add_particles(np.random.default_rng(1).permutation(points), radius=0.01, friction=0.3)
    scene.add_container((0, 0, 0.06), (0.085, 0.085, 0.2), friction=0.3)
    straight = pl.Simulation(scene, pl.VelocityTimeStepping(), frame_rate=300, substeps=1)
    for _ in range(60):
        straight.step()
    before = straight._work.detector.lists
    straight.step()
    assert len(before.places) == len(points)
    assert straight._work.detector.lists is before
    straight.save(tmp_path / "run.npz")
    resumed = pl.Simulation.resume(tmp_path / "run.npz")
    for _ in range(20):
        straight.step()
        resumed.step()
    assert np.array_equal(resumed.positions, straight.positions)
