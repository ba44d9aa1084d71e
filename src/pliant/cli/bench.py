"""`pliant bench`: how fast vertex block descent runs here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.output import only_warnings, print_json
from pliant.cli.run import Json, Quiet

if TYPE_CHECKING:
    from pliant.model import Scene

REPEATS = 5


def bench(
    cells: Annotated[int, typer.Option(min=1, help="Cells along an edge of the cube; it has 6 cells^3 tets.")] = 25,
    iterations: Annotated[int, typer.Option(min=1, help="Iterations in a timed run.")] = 50,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Time vertex block descent on a hanging cube.

    Prints milliseconds per iteration and nanoseconds per tetrahedron, on one
    thread and on all cores: the best of 5 runs, in single precision, without
    compiling.

    Example: pliant bench --cells 40 --iterations 20
    """
    from pliant.lanes.host import core_count, cpu_name
    from pliant.scenes import cube

    scene = cube(cells)
    tets = scene.solids[0].mesh.n_tets
    say = (lambda text: None) if quiet or as_json else typer.echo
    found: dict[str, Any] = {"cpu": cpu_name(), "tets": tets, "seconds_an_iteration": {}}
    say(f"Cube of {tets:,} tets, {scene.solids[0].n_vertices:,} vertices, on {cpu_name()}")
    for threads in sorted({1, core_count()}):
        with only_warnings(quiet):
            seconds, build_seconds, size = _time(scene, iterations, threads)
        found["seconds_an_iteration"][threads] = seconds
        say(
            f"{threads} thread{'s' if threads > 1 else ' '}  {1e3 * seconds:8.3f} ms per iteration"
            f"  {1e9 * seconds / tets:6.2f} ns per tet"
        )
    found |= {"seconds_to_build": build_seconds, "bytes": size}
    say(f"building   {1e9 * build_seconds / tets:8.0f} ns per tet ({build_seconds:.2f} s)")
    say(f"memory     {size / tets:8.0f} bytes per tet")
    if as_json:
        print_json(found)


def _time(scene: Scene, iterations: int, threads: int) -> tuple[float, float, int]:
    """Seconds an iteration, seconds to build the solver's tables, and their bytes."""
    from pliant import VBD, Simulation
    from pliant.solvers.contract.loop import Execution

    solver, execution = VBD(iterations=iterations), Execution("single", threads)
    simulation = Simulation(scene, solver, threads=threads)
    problem = simulation.problem()
    began = time.perf_counter()
    work = solver.init(problem, execution)  # the second time: its own helpers are compiled by now
    build_seconds = time.perf_counter() - began
    best = float("inf")
    for repeat in range(1 + REPEATS):  # the first compiles
        x = problem.x_guess.copy()
        solver.begin_step(problem, work)
        began = time.perf_counter()
        solver.sweep(problem, x, work, iterations if repeat else 1)
        if repeat:
            best = min(best, time.perf_counter() - began)
    return best / iterations, build_seconds, work.nbytes
