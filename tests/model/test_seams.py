"""Which points seams join, what bands pull with, and bad ones: one error that names body, vertex and remedy."""

import numpy as np
import pytest

import pliant as pl
from pliant.energies.elements import energy_of
from pliant.geometry.boundary import boundary_chain, chain_within
from pliant.model import build_model
from pliant.model.blocks import Bands, Stitches

LAW = pl.StVenantKirchhoff(mu=100.0, lam=0.0)
COARSE, FINE = pl.shapes.cloth((0.2, 0.2), (4, 4)), pl.shapes.cloth((0.2, 0.2), (4, 6))


def side(mesh, sign):
    return chain_within(mesh, np.flatnonzero(sign * mesh.points[:, 0] > 0.099))


def block_of(scene, kind):
    (block,) = [block for block in build_model(scene).blocks if type(block) is kind]
    return block


@pytest.fixture
def scene():
    scene = pl.Scene(gravity=(0, 0, 0))
    scene.add_cloth(COARSE, LAW, name="one")
    scene.add_cloth(FINE, LAW, name="two").set_positions(FINE.points + np.array([0.25, 0, 0]))
    return scene


def test_boundary_of_a_sheet_is_one_loop():
    (loop,) = COARSE.boundary_loops()
    assert len(loop) == 17
    assert loop[0] == loop[-1]
    assert len(side(COARSE, 1)) == 5
    corner, other = side(COARSE, 1)[[0, -1]]
    assert set(boundary_chain(COARSE, corner, other)) == set(side(COARSE, 1))


def test_points_at_equal_parts_are_sewn(scene):
    """4 and 6 cells: parts 0, 1/6, 1/4, 1/3, 1/2, ... of 0.2 m; the gaps are 0.05 m everywhere."""
    one, two = scene.bodies
    seam = scene.add_seam(one, side(COARSE, 1), two, side(FINE, -1), stiffness=600.0, seconds=2.0)
    block = block_of(scene, Stitches)
    assert len(block.elements) == 9
    x = np.concatenate([one.initial_positions, two.initial_positions])
    gaps = np.einsum("mk,mka->ma", block.shares, x[block.elements])
    np.testing.assert_allclose(gaps, np.tile([0.05, 0, 0], (9, 1)), atol=1e-15)
    np.testing.assert_allclose(block.gaps, 0.05, rtol=1e-14)
    assert block.stiffness.sum() == pytest.approx(seam.stiffness * 0.2, rel=1e-12)
    np.testing.assert_allclose(block.shares.sum(axis=1), 0, atol=1e-15)


def test_vertices_that_a_file_has_rounded_are_sewn_to_each_other():
    """5 vertices a side, moved by up to 5 micrometres: 5 stitches, each of one vertex and one vertex."""
    scene = pl.Scene(gravity=(0, 0, 0))
    shaken = COARSE.points + np.random.default_rng(1).uniform(-5e-6, 5e-6, COARSE.points.shape)
    one, two = (scene.add_cloth(pl.TriMesh(points, COARSE.triangles), LAW) for points in (COARSE.points, shaken))
    scene.add_seam(one, side(COARSE, 1), two, side(COARSE, 1))
    block = block_of(scene, Stitches)
    assert len(block.elements) == 5
    np.testing.assert_array_equal(np.sort(np.abs(block.shares), axis=1), np.tile([0.0, 0.0, 1.0, 1.0], (5, 1)))


def test_direction_and_start_follow_the_least_gaps(scene):
    one, two = scene.bodies
    chain = side(FINE, -1)
    for given in (chain, chain[::-1]):
        seam = scene.add_seam(one, side(COARSE, 1), two, given)
        ends = [body.initial_positions[c[0], 1] for body, c in ((one, seam.chain_a), (two, seam.chain_b))]
        assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    loop = np.roll(FINE.boundary_loops()[0][:-1], 7)[::-1]
    seam = scene.add_seam(one, COARSE.boundary_loops()[0], two, np.append(loop, loop[0]))
    gaps = np.linalg.norm(
        one.initial_positions[seam.chain_a[0]] + [0.25, 0, 0] - two.initial_positions[seam.chain_b[0]]
    )
    assert gaps < 1e-12


def test_the_end_of_a_dart_is_sewn_to_no_other(scene):
    """Two sides of one corner: the corner is common, no stitch names a vertex twice, none joins it with itself."""
    one = scene.bodies[0]
    loop = COARSE.boundary_loops()[0][:-1]
    corner = int(np.flatnonzero(loop == side(COARSE, 1)[0])[0])
    loop = np.roll(loop, -corner)
    scene.add_seam(one, loop[:5], one, np.append(loop[:1], loop[:-5:-1]), align=False)
    block = block_of(scene, Stitches)
    assert len(block.elements) == 4
    assert all(len(set(row)) == 4 for row in block.elements.tolist())


def test_a_band_pulls_with_its_stiffness_times_its_strain(scene):
    """Length 0.2 m, 0.16 m at rest, 12 N at twice that: 12 N (0.2 / 0.16 - 1) = 3 N at both ends, nothing between."""
    one = scene.bodies[0]
    chain = side(COARSE, 1)
    scene.add_band(one, chain, ratio=0.8, stiffness=12.0, seconds=2.0)
    block = block_of(scene, Bands)
    x = np.concatenate([body.initial_positions for body in scene.bodies])
    assert energy_of(block).energy(block, x) == pytest.approx(0, abs=1e-20)
    force = energy_of(block).gradient(block.at(2.0), x)
    np.testing.assert_allclose(np.abs(force[chain[[0, -1]], 1]), 3.0, rtol=1e-12)
    np.testing.assert_allclose(force[chain[1:-1]], 0, atol=1e-12)
    half = energy_of(block).gradient(block.at(1.0), x)
    np.testing.assert_allclose(np.abs(half[chain[[0, -1]], 1]), 12.0 * 0.02 / 0.16, rtol=1e-12)


@pytest.mark.parametrize(
    ("chain", "parts"),
    [
        ([0, 99], ("chain_a of one", "vertex 99", "0 to 24")),
        ([0, 24], ("vertices 0 and 24", "no edge")),
        ([0], ("shape (1,)", "boundary_loops")),
        ([0.5, 1.0], ("float64",)),
        (COARSE.boundary_loops()[0], ("one is closed", "two is open")),
        ([0, 1, 0, 1], ("vertex 0 twice",)),
    ],
)
def test_bad_chains_are_told(scene, chain, parts):
    one, two = scene.bodies
    with pytest.raises(pl.SceneError) as error:
        scene.add_seam(one, chain, two, side(FINE, -1))
    for part in ("add_seam", *parts):
        assert part in str(error.value)
    assert not scene.seams


def test_other_bad_seams_are_told(scene):
    one, two = scene.bodies
    ball = scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), pl.StableNeoHookean(mu=1e4, lam=1e4), name="ball")
    a, b = side(COARSE, 1), side(FINE, -1)
    with pytest.raises(pl.SceneError, match="'ball' is not a cloth"):
        scene.add_seam(one, a, ball, [0, 1])
    with pytest.raises(pl.SceneError, match="same vertices of one"):
        scene.add_seam(one, a, one, a[::-1])
    with pytest.raises(pl.SceneError, match="stiffness is -1"):
        scene.add_seam(one, a, two, b, stiffness=-1.0)
    with pytest.raises(pl.SceneError, match="seconds is -2"):
        scene.add_seam(one, a, two, b, seconds=-2.0)
    with pytest.raises(pl.SceneError, match="ratio is 0"):
        scene.add_band(one, a, ratio=0.0)
    with pytest.raises(pl.SceneError, match="is not a body of this scene"):
        scene.add_band(pl.Scene().add_cloth(COARSE, LAW, name="else"), a)


def sewn(seconds, gap=0.4, contact=True):
    """Two sheets of 0.2 m with edges of 0.05 m and more, a gap apart, sewn along one side of each."""
    scene = pl.Scene(gravity=(0, 0, 0), contact=pl.Contact() if contact else None)
    one, two = scene.add_cloth(COARSE, LAW, name="one"), scene.add_cloth(COARSE, LAW, name="two")
    two.set_positions(COARSE.points + np.array([0.2 + gap, 0, 0]))
    scene.add_seam(one, side(COARSE, 1), two, side(COARSE, -1), seconds=seconds)
    return scene


def test_seams_that_close_faster_than_contact_follows_are_told_before_any_work():
    """0.4 m at once is 7 mean edges per step; in the time that the error names it is a tenth of one."""
    with pytest.raises(pl.SceneError) as error:
        pl.Simulation(sewn(0.0))
    for part in ("seam of one and two", "gap of 0.4 m in seconds=0", "edge (0.056 m) per step of 0.0033 s"):
        assert part in str(error.value)
    assert "Give seconds=0.3 or more" in str(error.value)
    with pytest.raises(pl.SceneError, match=r"seconds=0\.01"):
        pl.Simulation(sewn(0.01))
    pl.Simulation(sewn(0.3))
    pl.Simulation(sewn(0.0, gap=0.05))  # less than an edge
    pl.Simulation(sewn(0.0, contact=False))  # nothing lies between
    assert np.isfinite(pl.equilibrium(sewn(0.0, gap=0.05, contact=False)).positions).all()
