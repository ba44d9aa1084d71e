"""Whatever a call is given, it answers with one error that names the argument: never a traceback from below."""

import datetime
from fractions import Fraction

import numpy as np
import pytest

import pliant as pl

MESH = pl.shapes.box((0.2, 0.2, 0.2), (1, 1, 1))
SHEET = pl.shapes.cloth((1.0, 1.0), (2, 2))
RUBBER = pl.StableNeoHookean.from_young(1e5, 0.3)
EMPTY, RAGGED, HUGE = np.zeros((0, 3)), [1, [2, 3]], 10**400
FRAMES = np.stack([SHEET.points, SHEET.points + 1.0])


def sheets():
    scene = pl.Scene()
    return scene, scene.add_cloth(SHEET, RUBBER, density=0.1), scene.add_cloth(SHEET, RUBBER, density=0.1)


def seam(chain=(0, 1, 2), align=True):
    scene, a, b = sheets()
    scene.add_seam(a, [0, 1, 2], b, chain, align=align)


def band(chain):
    scene, a, _ = sheets()
    scene.add_band(a, chain)


def emitter(**options):
    pl.Scene().add_emitter((0, 0, 1), 10.0, (0, 0, -1), **{"until": 1.0, **options})


def hinge(a=True, **options):
    scene = pl.Scene()
    body = scene.add_rigid(pl.Box((1, 1, 1)))
    scene.add_joint("hinge", body if a else None, None, **{"point": (0, 0, 0), "axis": (0, 0, 1), **options})


def attachment(vertices=(0,), stiffness=100.0, weights=None):
    scene = pl.Scene()
    a, b = scene.add_solid(MESH, RUBBER), scene.add_solid(MESH, RUBBER)
    scene.attach(a, vertices, b, [0], stiffness, weights)


def inertia(point=(0, 0, 0), axis=(0, 0, 1)):
    return pl.Scene().add_rigid(pl.Box((1, 1, 1))).inertia_about(point, axis)


def animation():
    return pl.Animation.from_frames(SHEET.triangles, FRAMES)


def refused(call, words):
    with pytest.raises(pl.PliantError, match=words) as error:
        call()
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: seam(RAGGED), "add_seam.* give at least two vertices"),
        (lambda: seam(align=EMPTY), "add_seam: align"),
        (lambda: band(RAGGED), "give at least two vertices"),
        (lambda: emitter(until=1e308), "would release 1e.309|would release inf"),
        (lambda: emitter(seed="x"), "seed is 'x': give a whole number"),
        (lambda: emitter(seed=-1), "seed is -1: give a whole number of at least 0"),
        (lambda: hinge(a=False), "add_joint: None is not a rigid body"),
        (lambda: hinge(stiffness=EMPTY), "hinge: stiffness"),
        (lambda: hinge(break_force=EMPTY), "hinge: break_force"),
        (lambda: hinge(collide=EMPTY), "hinge: collide"),
        (lambda: attachment(RAGGED), "attach: vertices_a of solid0"),
        (lambda: attachment(stiffness=EMPTY), "attach: stiffness"),
        (lambda: attachment(weights=RAGGED), "attach: weights_a of solid0"),
        (lambda: inertia(point=None), "inertia_about: point"),
        (lambda: inertia(axis="x"), "inertia_about: axis"),
        (lambda: pl.Motor(speed=1.0, max_torque=EMPTY), "Motor: max_torque"),
        (lambda: pl.Schedule([0, 1], [0, 1])("x"), "Schedule: time is 'x'"),
        (lambda: pl.Wind(lambda t: (t, 0, 0)).velocity_at(None), "velocity_at: time is None"),
    ],
)
def test_parts_of_scenes(call, words):
    refused(call, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MESH.transformed(scale="x"), "scale='x'; pass one positive number or three"),
        (lambda: MESH.transformed(scale=HUGE), "pass one positive number or three"),
        (lambda: MESH.transformed(translation={}), "pass three finite lengths"),
        (lambda: MESH.transformed(rotation="x"), "str that are not a rotation|got str"),
        (lambda: MESH.transformed(rotation=np.full((3, 3), np.nan)), "not a rotation"),
        (lambda: animation().positions(None), "the time is None"),
        (lambda: animation().velocities(datetime.timedelta(1)), "the time is datetime"),
        (lambda: pl.Garment.vest(height=None), "height is None"),
        (lambda: pl.Garment.vest(height=1e308), "spacing 0.03: give positive lengths"),
        (lambda: pl.Garment.vest(spacing=1e-300), "spacing 1e-300"),
        (lambda: pl.Garment.from_uv(None, SHEET.points[:, :2]), "the mesh is None; give a pl.TriMesh"),
        (lambda: pl.Garment.from_uv(SHEET, "x"), "uv is str; give an array of numbers"),
        (lambda: pl.Garment.from_uv(SHEET, SHEET.points[:, :2], scale=[]), r"scale is \[\]"),
        (lambda: pl.warp_from_uv(SHEET, HUGE), "uv is int; give an array of numbers"),
    ],
)
def test_meshes(call, words):
    refused(call, words)


@pytest.fixture(scope="module")
def sim():
    scene = pl.Scene()
    scene.add_solid(MESH, RUBBER).pin([0])
    return pl.Simulation(scene, pl.VBD(), threads=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda sim: pl.solve(None, pl.VBD()), r"the problem is None: give that of a step, sim.problem\(\)"),
        (lambda sim: pl.solve(sim.problem(), pl.VBD(), x0="x"), "x0 is str"),
        (lambda sim: pl.solve(sim.problem(), pl.VBD(), stop="x"), "stop is 'x': give a pl.Stop"),
        (lambda sim: pl.solve(sim.problem(), pl.VBD(), threads=HUGE), "give at most 1024"),
        (lambda sim: sim.problem().energy(None), "x is NoneType: give positions"),
        (lambda sim: sim.problem().gradient(-1), r"x is int of shape \(\): give positions"),
        (lambda sim: sim.problem().hessian([["a"]]), "x is list: give positions"),
        (lambda sim: pl.compare(sim, None), "solvers are None: give a list of solvers"),
        (lambda sim: pl.compare(sim, ["x"]), "solver 0"),
        (lambda sim: pl.compare(sim, [pl.VBD()], threads=-1), "compare: threads is -1"),
        (lambda sim: pl.compare(sim, [pl.VBD()], progress=EMPTY), "compare: progress"),
        (lambda sim: pl.compare_motion(None, [pl.VBD()], 1), "make is None: give a function"),
        (lambda sim: pl.compare_motion(lambda: sim, "x", 1), "solvers are 'x'"),
        (lambda sim: pl.equilibrium(sim.scene, threads=HUGE), "give at most 1024"),
        (lambda sim: pl.equilibrium(sim.scene, stop_at_limit=EMPTY), "equilibrium: stop_at_limit"),
        (lambda sim: pl.tune_chebyshev(sim.scene, solver="x"), "tune_chebyshev: solver"),
        (lambda sim: pl.tune_chebyshev(sim.scene, samples=HUGE), "give at most as many as steps, 12"),
        (lambda sim: pl.tune_chebyshev(sim.scene, most_cycles=None), "most_cycles is None"),
        (lambda sim: pl.HeavyBall(pl.VBD(), beta=HUGE), "HeavyBall: beta"),
        (lambda sim: sim.frames(HUGE), "give at most 1000000000000"),
        (lambda sim: sim.frames(1, progress=EMPTY), "frames: progress"),
        (lambda sim: sim.record("a.npz", every=HUGE), "record: every"),
    ],
)
def test_simulations_and_solvers(sim, call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(lambda: call(sim), words)
    assert list(tmp_path.iterdir()) == []


def test_pictures(sim):
    pytest.importorskip("PIL")
    refused(lambda: sim.plot(height=HUGE), "choose 16 to 16384")
    assert sim.plot(height=32, azimuth=Fraction(1, 3), elevation=Fraction(20)).height == 48  # with its label


def test_results_of_statics(sim, tmp_path):
    rest = pl.equilibrium(sim.scene, threads=1)
    (body,) = sim.scene.bodies
    for name in ("stress", "strain", "von_mises", "principal_stresses"):
        refused(lambda name=name: getattr(rest, name)(body, EMPTY), "smooth is")
    refused(lambda: rest.save(None), "Equilibrium.save: path")
    refused(lambda: rest.save(tmp_path / "a.npz", volume=EMPTY), "Equilibrium.save: volume")


def test_lists_of_lists_are_positions(sim):
    problem = sim.problem()
    assert problem.energy(problem.x_guess.tolist()) == problem.energy(problem.x_guess)
