"""Scenes that tear, break and lose elements: what stays, what goes, and what is said."""

import numpy as np
import pytest

import pliant as pl
from pliant.io.results import open_result
from pliant.model import FoldFans, FoldPairs, build_model
from pliant.model.tearing import tear


def pulled_sheet(tear_at=1.1, cells=8, speed=2.0, varies=False, **options):
    """A sheet held on the left and pulled to the right until it tears; its material may vary within it."""
    mesh = pl.shapes.cloth((1, 1), (cells, cells))
    scene = pl.Scene(gravity=(0, 0, 0))
    material = pl.StVenantKirchhoff(np.linspace(800, 1200, len(mesh.triangles)) if varies else 1e3, 1e3)
    cloth = scene.add_cloth(mesh, material, density=0.2, bending=1e-4, tear_at=tear_at, **options)
    x = mesh.points[:, 0]
    cloth.pin(x == x.min())
    cloth.move(x == x.max(), pl.motions.Slide(mesh.points[x == x.max()], velocity=(speed, 0, 0)))
    return scene, cloth


def momentum(sim):
    return (sim.model.mass[:, None] * sim.velocities).sum(axis=0)


def run_until_torn(sim, most=400):
    n = len(sim.positions)
    for _ in range(most):
        sim.step()
        if len(sim.positions) > n:
            return
    raise AssertionError("nothing has torn")


@pytest.mark.slow
def test_mass_and_momentum_are_kept():
    scene, _ = pulled_sheet()
    sim = pl.Simulation(scene, precision="double")
    whole = sim.model.mass.copy()
    seen, tear = [], sim._tear

    def watched_tear():
        seen.append(momentum(sim))
        tear()

    sim._tear = watched_tear
    for _ in range(300):
        sim.step()
        np.testing.assert_allclose(momentum(sim), seen[-1], atol=1e-14)
    assert len(sim.positions) > len(whole)
    assert sim.model.mass.sum() == pytest.approx(whole.sum(), rel=1e-14)
    of_origins = np.bincount(sim.model.topology.origin, sim.model.mass)
    np.testing.assert_allclose(of_origins, whole, rtol=1e-13)


@pytest.mark.slow
def test_nothing_tears_below_the_limit():
    """Pulled to 1.05 with a limit of 1.2: whole; and exactly the motion of a sheet that cannot tear."""
    results = []
    for limit in (1.2, None):
        scene, cloth = pulled_sheet(tear_at=limit, speed=0.5, bending_model="dihedral")
        sim = pl.Simulation(scene)
        for _ in range(30):
            sim.step()
        results.append(sim.positions)
        np.testing.assert_array_equal(cloth.triangles, cloth.mesh.triangles)
    np.testing.assert_array_equal(*results)


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "varies"), [(1, False), (2, False), (1, True)])
def test_taking_it_up_equals_building_it_anew(threads, varies):
    """New rows in spare packs and edited lists give the same bits as tables made from the torn model at once."""

    class Rebuilt(pl.VBD):
        def update_topology(self, problem, work, change):
            return False  # the solver is built again

    results = []
    for solver in (pl.VBD(iterations=5), Rebuilt(iterations=5)):
        scene, cloth = pulled_sheet(cells=12, warp=50.0, damping=1e-4, varies=varies)
        points, edges = pl.shapes.rope([[2, 0, 0], [3, 0, 0]], 8)
        rope = scene.add_springs(points, edges, stiffness=200.0, mass=0.01, bending=1e-3, tear_at=1.15)
        rope.pin([0])
        rope.move([8], pl.motions.Slide(points[8:], velocity=(1.0, 0, 0)))
        scene.world_box = pl.WorldBox(lower=(-9, -9, -0.01), stiffness=5.0)
        scene.wind = pl.Wind((0.0, 0.0, 2.0))
        sim = pl.Simulation(scene, solver, threads=threads)
        for _ in range(150):
            sim.step()
        results.append(sim.positions)
        assert len(sim.positions) > cloth.n_vertices + 9
        assert len(rope.springs) < len(edges)
    np.testing.assert_array_equal(*results)


def test_spare_rows_run_out_and_are_made_anew():
    """A sheet that is torn to shreds needs many times its vertices."""
    scene, cloth = pulled_sheet(tear_at=1.001, cells=10, speed=20.0)
    sim = pl.Simulation(scene, pl.VBD(iterations=3))
    for _ in range(60):
        sim.step()
    assert len(sim.positions) > 1.5 * cloth.n_vertices + 16
    assert np.isfinite(sim.positions).all()
    assert len(cloth.triangles) == cloth.mesh.n_triangles
    np.testing.assert_array_equal(np.unique(cloth.triangles), np.arange(len(cloth.positions)))


@pytest.mark.parametrize("speed", [1.0, 2.0])
def test_a_torn_run_resumes_with_the_same_bits(tmp_path, speed):
    """How stiff a sheet was before it tore decides when its steps end."""
    scene, _ = pulled_sheet(cells=10, damping=1e-4, speed=speed)
    sim = pl.Simulation(scene)
    run_until_torn(sim)
    sim.save(tmp_path / "torn.npz")
    again = pl.Simulation.resume(tmp_path / "torn.npz")
    for _ in range(60):
        sim.step(), again.step()
    np.testing.assert_array_equal(sim.positions, again.positions)
    np.testing.assert_array_equal(sim.model.topology.corners, again.model.topology.corners)
    np.testing.assert_array_equal(again.scene.bodies[0].triangles, scene.bodies[0].triangles)


@pytest.mark.slow
def test_a_tear_leaves_what_other_elements_remember():
    """A crushed block beside the sheet: its law stays converted as far as it was (Invertible)."""
    scene, _ = pulled_sheet(cells=4, speed=10.0)
    block = scene.add_solid(pl.shapes.box(cells=2), pl.Invertible(pl.NeoHookean.from_young(1e4, 0.3)))
    block.pin(np.abs(block.initial_positions[:, 2]) > 0.49)
    block.set_positions(block.initial_positions * [1, 1, 0.02] + [[5.0, 0.0, 0.0]])
    sim = pl.Simulation(scene, pl.VBD(iterations=5))
    memories, tear = [], sim._tear

    def watched_tear():
        memories.append(sim.state.internal_state.copy())
        tear()

    sim._tear = watched_tear
    n = len(sim.positions)
    while len(sim.positions) == n:
        sim.step()
    assert memories[-1].max() > 0
    np.testing.assert_array_equal(sim.state.internal_state, memories[-1])


def test_newton_tears_the_same_sheet():
    """At the same place: a sheet with one weak row, both solvers converged."""
    torn = []
    for solver in (pl.Newton(), pl.VBD(iterations=400)):
        scene, _ = pulled_sheet(cells=3, tear_at=1.15, speed=10.0)
        sim = pl.Simulation(scene, solver, precision="double")
        run_until_torn(sim)
        torn.append((sim.state.step, sim.model.topology.corners))
    assert torn[0][0] == torn[1][0]
    np.testing.assert_array_equal(torn[0][1], torn[1][1])


def test_a_spring_breaks_at_its_stretch():
    """Two springs in a row, the second half as stiff: it reaches the stretch first, when the pull is k times it."""
    scene = pl.Scene(gravity=(0, 0, 0))
    net = scene.add_springs([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1], [1, 2]], [200.0, 100.0], 0.1, tear_at=1.3)
    net.pin([0])
    net.move([2], pl.motions.Slide([[2, 0, 0]], velocity=(0.1, 0, 0)))
    sim = pl.Simulation(scene, pl.VBD(iterations=50), precision="double")
    while len(net.springs) == 2:
        sim.step()
    np.testing.assert_array_equal(net.springs, [[0, 1]])
    # stretches 0.15 and 0.3 when the end has moved 0.45 m: after 4.5 s
    assert sim.time == pytest.approx(4.5, abs=0.03)
    for _ in range(10):
        sim.step()
    assert len(sim.positions) == 3
    assert np.isfinite(sim.positions).all()


@pytest.mark.slow
def test_wind_contact_and_force_fields_reach_torn_pieces():
    """The lost half of a torn sheet falls freely: its momentum grows by m g t, and a force field sees all vertices."""
    scene, cloth = pulled_sheet(cells=6, speed=6.0, tear_at=1.05)
    seen = []

    def lift(x, v, t):
        seen.append(len(x))
        return np.zeros_like(x)

    cloth.add_force(lift)
    scene.wind = pl.Wind((0.0, 0.0, 1.0))
    scene.add_plane((0, 0, -1), (0, 0, 1))
    sim = pl.Simulation(scene)
    for _ in range(100):
        sim.step()
    assert seen[-1] == len(cloth.positions) > cloth.n_vertices
    wind = sim.model.forces[-1]
    assert set(wind.triangles.ravel().tolist()) == set(range(len(sim.positions)))
    assert set(sim.model.contact.triangles.ravel().tolist()) == set(range(len(sim.positions)))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npz", "ply", "pvd"])
def test_results_hold_a_torn_sheet_and_a_broken_rope(tmp_path, ending):
    """Every triangle and spring has points of its own, so that one topology serves all frames."""
    scene, cloth = pulled_sheet(cells=6, speed=6.0)
    points, edges = pl.shapes.rope([[2, 0, 0], [3, 0, 0]], 4)
    rope = scene.add_springs(points, edges, stiffness=200.0, mass=0.01, tear_at=1.15)
    rope.pin([0])
    rope.move([4], pl.motions.Slide(points[4:], velocity=(3.0, 0, 0)))
    block = scene.add_solid(pl.shapes.box(cells=2), pl.NeoHookean.from_young(1e4, 0.3))
    sim = pl.Simulation(scene)
    with sim.record(tmp_path / f"torn.{ending}"):
        for _ in sim.frames(12):
            pass
    assert len(cloth.positions) > cloth.n_vertices
    assert len(rope.springs) < len(edges)
    first, last = (points_of(tmp_path, ending, frame) for frame in (0, 12))
    sheet = 3 * cloth.mesh.n_triangles
    assert len(first) == len(last) == sheet + 2 * len(edges) + len(np.unique(block.surface))
    np.testing.assert_allclose(last[:sheet], cloth.positions[cloth.triangles].reshape(-1, 3), rtol=1e-6, atol=1e-6)
    lengths = np.linalg.norm(np.diff(last[sheet : sheet + 8].reshape(-1, 2, 3), axis=1), axis=2)
    assert (lengths == 0).sum() == len(edges) - len(rope.springs)


def points_of(folder, ending, frame):
    """Points (n, 3) of a frame of the result `torn`, by a reader that is not Pliant's where there is one [m]."""
    if ending == "npz":
        with open_result(folder / "torn.npz") as result:
            return result.frame(frame).points
    if ending == "pvd":
        meshio = pytest.importorskip("meshio")
        return meshio.read(folder / "torn" / f"torn_{frame:05d}.vtu").points
    header, _, body = (folder / f"torn_{frame:05d}.ply").read_bytes().partition(b"end_header\n")
    words = [line.split() for line in header.decode().splitlines()]
    assert words[1][1] == "binary_little_endian"
    elements = [k for k, line in enumerate(words) if line[0] == "element"]
    types = {"float": "<f4", "double": "<f8", "uchar": "u1", "int": "<i4"}
    rows = [(name, types[kind]) for _, kind, name in words[elements[0] + 1 : elements[1]]]
    vertices = np.frombuffer(body, rows, count=int(words[elements[0]][2]))
    return np.column_stack([vertices[axis] for axis in "xyz"])


def test_deleting_while_recording_is_refused_where_a_result_could_not_show_it(tmp_path):
    scene = pl.Scene()
    solid = scene.add_solid(pl.shapes.box(cells=2), pl.NeoHookean.from_young(1e4, 0.3))
    sim = pl.Simulation(scene)
    with sim.record(tmp_path / "run.npz"), pytest.raises(pl.SceneError, match="delete before you record"):
        sim.delete(solid, [0])


def test_deleting_a_spring_lets_the_weight_fall():
    scene = pl.Scene()
    net = scene.add_springs([[0, 0, 0], [0, 0, -1]], [[0, 1]], 100.0, 0.1, damping=0.0)
    net.pin([0])
    sim = pl.Simulation(scene, pl.VBD(iterations=50), precision="double")
    sim.delete(net, [0])
    h, n = sim.h, 30
    for _ in range(n):
        sim.step()
    assert net.springs.shape == (0, 2)
    assert sim.positions[1, 2] == pytest.approx(-1 - 9.81 * h * h * n * (n + 1) / 2, rel=1e-9)


def test_deleting_triangles_takes_their_mass_and_holds_what_is_loose():
    scene = pl.Scene()
    mesh = pl.shapes.cloth((1, 1), (4, 4))
    cloth = scene.add_cloth(mesh, pl.StVenantKirchhoff(1e3, 1e3), density=0.2, bending_model="dihedral")
    corner = int(np.argmin(mesh.points[:, 0] + mesh.points[:, 1]))
    gone = np.flatnonzero((mesh.triangles == corner).any(axis=1))
    sim = pl.Simulation(scene)
    sim.delete(cloth, gone)
    assert sim.model.mass.sum() == pytest.approx(0.2 * (mesh.areas.sum() - mesh.areas[gone].sum()), rel=1e-13)
    for _ in range(10):
        sim.step()
    np.testing.assert_array_equal(sim.positions[corner], mesh.points[corner])
    assert len(cloth.triangles) == mesh.n_triangles - len(gone)
    assert corner not in cloth.triangles
    sim.delete(cloth, [int(np.setdiff1d(np.arange(mesh.n_triangles), gone)[0])])
    assert len(cloth.triangles) == mesh.n_triangles - len(gone) - 1


@pytest.mark.parametrize("element", ["linear", "patch"])
def test_deleting_tets_cuts_a_beam(element):
    """Without its middle layer the free half falls as a free body does."""
    scene = pl.Scene()
    mesh = pl.shapes.box((5, 1, 1), (5, 1, 1), "alternating")  # a layer of cells is a layer of tets
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e6, 0.3), element=element)
    beam.pin(mesh.points[:, 0] == mesh.points[:, 0].min())
    sim = pl.Simulation(scene, pl.VBD(iterations=200), precision="double")
    centre = mesh.points[mesh.tets].mean(axis=1)[:, 0] - mesh.points[:, 0].mean()
    gone = np.flatnonzero(np.abs(centre) < 0.5)
    sim.delete(beam, gone)
    free = np.unique(mesh.tets[centre > 0.5])
    m = sim.model.mass[free]
    start = (m[:, None] * sim.positions[free]).sum(axis=0) / m.sum()
    n = 20
    for _ in range(n):
        sim.step()
    end = (m[:, None] * sim.positions[free]).sum(axis=0) / m.sum()
    np.testing.assert_allclose(end - start, [0, 0, -9.81 * sim.h**2 * n * (n + 1) / 2], atol=1e-7)
    assert len(beam.tets) == mesh.n_tets - len(gone)


@pytest.mark.parametrize("value", [1.0, 0.5, -2.0, float("nan"), "high"])
def test_bad_limits_are_refused(value):
    scene = pl.Scene()
    with pytest.raises(pl.SceneError, match="tear_at"):
        scene.add_cloth(pl.shapes.cloth(cells=2), pl.StVenantKirchhoff(1, 1), tear_at=value)
    with pytest.raises(pl.SceneError, match="tear_at"):
        scene.add_springs([[0, 0, 0], [1, 0, 0]], [[0, 1]], 1.0, 1.0, tear_at=value)


def test_what_cannot_be_taken_apart_is_refused():
    scene = pl.Scene()
    law = pl.StVenantKirchhoff(1, 1)
    with pytest.raises(pl.SceneError, match="spring 0 has the length 0"):
        scene.add_springs([[0, 0, 0], [1, 0, 0]], [[0, 1]], 1.0, 1.0, lengths=0.0, tear_at=1.5)
    cloth = scene.add_cloth(pl.shapes.cloth(cells=2), law)
    sim = pl.Simulation(scene)
    with pytest.raises(pl.SceneError, match="quadratic bending"):
        sim.delete(cloth, [0])
    with pytest.raises(pl.SceneError, match="triangle 99 does not exist; the body has triangles 0 to 7"):
        sim.delete(cloth, [99])
    other = pl.Scene().add_cloth(pl.shapes.cloth(cells=2), law)
    with pytest.raises(pl.SceneError, match="is not a body"):
        sim.delete(other, [0])


def test_folds_part_with_their_triangles():
    """After a tear, pairs and fans of hinges are still triangles with common edges at a vertex. Those that share a torn
    edge are gone, and no others are.
    """
    mesh = pl.shapes.cloth((1.0, 0.6), (5, 3))
    scene = pl.Scene()
    scene.add_cloth(mesh, pl.StVenantKirchhoff(1e3, 1e3), bending=1e-3, bending_model="coupled", tear_at=1.2)
    model = build_model(scene)
    x = mesh.points * [1.6, 1.0, 1.0]
    change = tear(model, x, 0.1 * x)
    assert change is not None
    corners = change.model.topology.corners.reshape(-1, 3)
    triangles = {frozenset(t) for t in corners.tolist()}
    for kind, sides in ((FoldPairs, ((0, 1, 2), (0, 1, 3), (0, 2, 4))), (FoldFans, FAN_TRIANGLES)):
        before, after = (next(b for b in m.blocks if isinstance(b, kind)).elements for m in (model, change.model))
        whole = [row for row in before.tolist() if edges_left(row, sides, mesh.triangles, corners)]
        assert 0 < len(after) == len(whole) < len(before)
        for row in after.tolist():
            assert {frozenset(row[c] for c in side) for side in sides} <= triangles


FAN_TRIANGLES = ((0, 1, 2), (0, 2, 3), (0, 1, 4), (0, 3, 5))


def edges_left(row, sides, before, after) -> bool:
    """Whether triangles of an element that had common vertices still have them; by triangles before and after."""
    place = {frozenset(t): k for k, t in enumerate(before.tolist())}
    owners = [place[frozenset(row[corner] for corner in side)] for side in sides]
    now = [dict(zip(before[k].tolist(), after[k].tolist(), strict=True)) for k in owners]
    return all(one[v] == two[v] for one in now for two in now for v in one.keys() & two.keys())
