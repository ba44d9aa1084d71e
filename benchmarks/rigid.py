"""Rigid bodies beside rapier3d 0.36.1 and MuJoCo 4: same bodies, friction and step, in one run.

    pip install rapier3d==0.36.1 mujoco==4.0.0
    python -m benchmarks.rigid [all] [part=1.0] [seconds=2]

Scenes: (a) pyramid, 16 rows of bricks; (b) drop, 1,000 cubes in a container; (c) teapot, 60 meshes in a pot; (d) soft,
20 soft balls on 100 cubes; growth, drop with up to 10,000 cubes; overhead, what one rigid body adds to a soft scene.
`part` scales the numbers of bodies. All have steps of 1/300 s. Each simulator has its defaults, and rows at equal
quality: its peers with contacts as stiff as helps them, Pliant on one thread with FEW iterations in (a) to (c); in (d)
it has the solver MIXED, with hard contacts and a fixed number of iterations, as its peers have. What counts is the
median of the last 50 steps; the deepest a corner is within another body, and the largest motion in those steps, say how
well they were solved. Run it on a quiet computer.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

import pliant as pl
from benchmarks.peers import mujoco_rigid, rapier_rigid
from benchmarks.peers.timed_steps import Outcome, timed
from benchmarks.rigid_scenes import RigidScene, deepest, drop, pyramid, soft_and_rigid, teapot
from pliant.geometry.mass_properties import mass_properties

H = 1 / 300
MIXED = pl.AVBD(iterations=50)
FEW = (4, 10)
SCENES = ("pyramid", "drop", "teapot", "soft", "growth", "overhead")


def simulation(
    about: RigidScene, threads: int | None = None, iterations: int | None = None
) -> tuple[pl.Simulation, list[pl.RigidBody]]:
    """A scene as Pliant's, with its default solver, so many iterations, or MIXED with soft bodies."""
    scene = pl.Scene(contact=pl.Contact(friction=about.friction))
    if about.walls is None:
        scene.add_plane((0, 0, 0), (0, 0, 1), friction=about.friction)
    else:
        scene.add_container((0, 0, 50), (*about.walls, 100.0), friction=about.friction)
    if about.pot is not None:
        points, triangles = about.pot
        scene.add_rigid(pl.TriMesh(points, triangles), position=mass_properties(points, triangles).centre).pin()
    bodies = []
    for k in range(about.count):
        shape = (
            pl.Box(about.sizes[k]) if about.sizes is not None else pl.TriMesh(about.own_corners()[k], about.triangles)
        )
        pose = {"position": about.positions[k], "orientation": about.turns[k]}
        bodies.append(scene.add_rigid(shape, density=about.density, **pose))
    law = pl.StableNeoHookean.from_young(about.youngs_modulus, about.poissons_ratio)
    for points, tets in about.soft:
        scene.add_solid(pl.TetMesh(points, tets), law, density=about.density)
    solver = MIXED if about.soft else None if iterations is None else pl.AVBD(iterations)
    return pl.Simulation(scene, solver, frame_rate=1 / H, substeps=1, threads=threads), bodies


def ours(about: RigidScene, steps: int, threads: int | None = None, iterations: int | None = None) -> Outcome:
    sim, bodies = simulation(about, threads, iterations)
    done = []

    def step() -> None:
        done.append(sim.step().iterations)

    def poses() -> tuple[np.ndarray, np.ndarray]:
        return np.array([b.position for b in bodies]), np.array([b.orientation for b in bodies])

    few = "" if iterations is None else f", {iterations} iterations"
    found = timed(f"pliant, {threads or 'any'} threads{few}", step, poses, steps)
    note = f"{type(sim.solver).__name__}, {np.mean(done[-50:]):.0f} iterations per step"
    return Outcome(**{**vars(found), "note": note})


def compare(about: RigidScene, seconds: float) -> dict[str, dict[str, float]]:
    """One scene by all that can do it: times of a step [ms], deepest corner and drift [mm]."""
    steps, cores = max(100, round(seconds / H)), os.cpu_count() or 1
    runs: list[Callable[[], Outcome]] = [
        lambda: ours(about, steps),
        lambda: ours(about, steps, 1),
        lambda: rapier_rigid.run(about, H, steps, cores),
        lambda: rapier_rigid.run(about, H, steps, 1),
        lambda: rapier_rigid.run(about, H, steps, 1, is_stiff=True),
    ]
    if not about.soft:
        runs[2:2] = [lambda n=n: ours(about, steps, 1, n) for n in FEW]  # type: ignore[misc]
    if about.pot is None:
        runs += [lambda s=s: mujoco_rigid.run(about, H, steps, s) for s in (False, True)]  # type: ignore[misc]
    soft = f", {len(about.soft)} soft balls" if about.soft else ""
    print(f"\n{about.name}: {about.count} bodies{soft}, {steps} steps of {H:.5f} s\n")
    print("| | ms per step | CPU ms per step | deepest [mm] | drift in 50 steps [mm] | |\n|---|---|---|---|---|---|")
    result = {}
    for run in runs:
        found = run()
        depth = 1e3 * deepest(about, found.positions, found.turns)
        times = f"{found.milliseconds:.2f} | {found.cpu:.2f}"
        print(f"| {found.name} | {times} | {depth:.3f} | {1e3 * found.drift:.3f} | {found.note} |", flush=True)
        result[found.name] = {"ms": found.milliseconds, "cpu": found.cpu, "deepest": depth, "drift": 1e3 * found.drift}
    return result


def growth(part: float, seconds: float) -> dict[str, float]:
    """How the time of a step grows with the number of cubes."""
    counts = [round(part * n) for n in (300, 1000, 3000, 10_000)]
    found = [ours(drop(n), max(100, round(seconds / H))) for n in counts]
    print("\ngrowth\n\n| cubes | ms per step | CPU ms per step | |\n|---|---|---|---|")
    for n, one in zip(counts, found, strict=True):
        print(f"| {n} | {one.milliseconds:.2f} | {one.cpu:.2f} | {one.note} |")
    powers = {}
    for name, values in (("time", [one.milliseconds for one in found]), ("CPU time", [one.cpu for one in found])):
        powers[name] = float(np.polyfit(np.log(counts), np.log(values), 1)[0])
        print(f"{name} grows as n^{powers[name]:.2f}")
    return powers


def overhead(steps: int = 300) -> dict[str, float]:
    """CPU time [us] that one rigid body adds to a step of a soft scene with a fixed solver, on one thread: where there
    is no contact, and with a floor, far above it or resting on it.
    """
    box, ball = pl.Box((0.2, 0.2, 0.2)), pl.Sphere(0.1)
    cases: dict[tuple[str, bool], tuple[object, float]] = {}
    for has_floor in (False, True):
        floor = "above a floor" if has_floor else "no contact"
        cases |= {("nothing", has_floor): (None, 0.0)}
        cases |= {(f"a ball, {floor}", has_floor): (ball, 500.0), (f"a box, {floor}", has_floor): (box, 500.0)}
    cases |= {("a ball on a floor", True): (ball, 0.1), ("a box on a floor", True): (box, 0.1)}
    sims = {key: _hanging_beam(key[1], *body) for key, body in cases.items()}
    times: dict[tuple[str, bool], list[float]] = {key: [] for key in sims}
    rng, keys = np.random.default_rng(1), list(sims)
    for _ in range(steps):  # in turn, so that all see the same computer; after any other, whose code is in the cache
        for k in rng.permutation(len(keys)):
            began = time.process_time()
            sims[keys[k]].step()
            times[keys[k]].append(time.process_time() - began)
    typical = {key: 1e6 * float(np.percentile(own[steps // 5 :], 25)) for key, own in times.items()}
    print("\noverhead of one rigid body, CPU time of a step\n\n| | without [us] | added [us] |\n|---|---|---|")
    added = {}
    for (name, has_floor), spent in typical.items():
        if name != "nothing":
            without = typical["nothing", has_floor]
            added[name] = spent - without
            print(f"| {name} | {without:.0f} | {added[name]:.0f} |")
    return added


def _hanging_beam(has_floor: bool, shape: object, height: float) -> pl.Simulation:
    """A beam of 1,920 tets held at its top, and a rigid body beside it."""
    scene = pl.Scene()
    mesh = pl.shapes.box((0.2, 0.2, 1), (4, 4, 20), "kuhn").transformed(translation=(0, 0, 5))
    beam = scene.add_solid(mesh, pl.StableNeoHookean.from_young(1e5, 0.3))
    beam.pin(beam.initial_positions[:, 2] > 5.499)
    if has_floor:
        scene.add_plane((0, 0, 0), (0, 0, 1), friction=0.5)
    if shape is not None:
        scene.add_rigid(shape, position=(0, 5, height))
    return pl.Simulation(scene, pl.VBD(iterations=20), frame_rate=1 / H, substeps=1, threads=1)


def report(which: str = "all", part: float = 1.0, seconds: float = 2.0) -> dict[str, dict]:
    """Run and print all scenes, or one."""
    whole = lambda n: max(2, round(part * n))  # noqa: E731
    runs: dict[str, Callable[[], dict]] = {
        "pyramid": lambda: compare(pyramid(max(2, round(16 * part**0.5))), seconds),
        "drop": lambda: compare(drop(whole(1000)), seconds),
        "teapot": lambda: compare(teapot(whole(60)), seconds),
        "soft": lambda: compare(soft_and_rigid(whole(20), whole(100)), seconds),
        "growth": lambda: growth(part, seconds),
        "overhead": overhead,
    }
    return {name: runs[name]() for name in (SCENES if which == "all" else [which])}


def arguments(words: list[str]) -> tuple[str, float, float]:
    """The scene, which may stand alone or as `scene=`, part and seconds of a command line."""
    given: dict[str, str] = {"scene": "all", "part": "1", "seconds": "2"}
    for word in words:
        name, _, value = word.rpartition("=")
        if (name or "scene") not in given:
            raise SystemExit(f"benchmarks.rigid: {word!r} is none of its arguments: [scene] [part=1.0] [seconds=2]")
        given[name or "scene"] = value
    if given["scene"] not in (*SCENES, "all"):
        raise SystemExit(f"benchmarks.rigid: there is no scene {given['scene']!r}, but {', '.join(SCENES)} and all")
    try:
        return given["scene"], float(given["part"]), float(given["seconds"])
    except ValueError:
        raise SystemExit("benchmarks.rigid: part and seconds are numbers, as in part=0.1") from None


if __name__ == "__main__":
    report(*arguments(sys.argv[1:]))
