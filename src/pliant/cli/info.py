"""`pliant info`: what this computer offers, and what is kept on it; or what a scene holds or compiles."""

from __future__ import annotations

import platform
from typing import Annotated, Any

import typer

from pliant.cli.compiling import first_frame, table
from pliant.cli.output import print_json
from pliant.cli.run import Json, Quiet

SHOWN_FEATURES = ("sse4.2", "avx", "fma", "avx2", "avx512f", "neon", "sve")


def info(
    scene: Annotated[
        str | None, typer.Argument(metavar="SCENE", help="A .toml file, a .py file or a gallery name.")
    ] = None,
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Delete all compiled code; it is compiled again when needed.")
    ] = False,
    show_compiled: Annotated[
        bool, typer.Option("--compile", help="Run the scene's first frame and list the compiled functions it uses.")
    ] = False,
    show_kernels: Annotated[
        bool, typer.Option("--kernels", help="Print the C code that an OpenCL device would run for the scene.")
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show versions, the CPU, devices and the cache; or what a scene contains or compiles.

    \b
    Example: pliant info
             pliant info twist
             pliant info twist --json
             pliant info twist --compile
             pliant info cantilever --kernels
             pliant info --clear-cache
    """
    cleared = _clear_cache() if clear_cache else {}
    if show_compiled and scene is None:
        raise typer.BadParameter("needs a scene, for example: pliant info twist --compile", param_hint="--compile")
    if show_kernels:
        if scene is None:
            raise typer.BadParameter("needs a scene, for example: pliant info twist --kernels", param_hint="--kernels")
        typer.echo(_kernels(scene), nl=False)
        return
    look = _scene if not show_compiled else first_frame
    facts = _computer() if scene is None else look(scene)
    if as_json:
        print_json({**cleared, **facts})
        return
    if quiet:
        return
    if cleared:
        count, freed = cleared["deleted_generations"], _megabytes(cleared["deleted_bytes"])
        typer.echo(f"Deleted {count} generation{'' if count == 1 else 's'} of compiled code, {freed}.")
    if show_compiled:
        typer.echo("\n".join(table(facts)))
        return
    for name, value in (_words_on_computer if scene is None else _words_on_scene)(facts).items():
        typer.echo(f"{name:<16}{value}")


def _clear_cache() -> dict[str, int]:
    from pliant.lanes import cache

    freed = cache.size_in_bytes()
    return {"deleted_generations": cache.clear(), "deleted_bytes": freed}


def _computer() -> dict[str, Any]:
    import numba
    import numpy

    from pliant import __version__
    from pliant.device.opencl import describe_devices
    from pliant.lanes import cache, host

    generations = cache.generations()
    return {
        "pliant": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "cpu": host.cpu_name(),
        "vector_bits": host.vector_bits(),
        "features": [name for name in SHOWN_FEATURES if name in host.cpu_features()],
        "lanes_single": host.default_width("single"),
        "lanes_double": host.default_width("double"),
        "threads": host.core_count(),
        "devices": describe_devices(),
        "cache_folder": str(cache.cache_folder()),
        "cache_bytes": cache.size_in_bytes(),
        "cache_generations": len(generations),
        "cache_has_this_one": any(generation.name == cache.fingerprint() for generation in generations),
    }


def _words_on_computer(facts: dict[str, Any]) -> dict[str, str]:
    current = "this one among them" if facts["cache_has_this_one"] else "none of this one"
    return {
        "pliant": facts["pliant"],
        "Python": f"{facts['python']} on {facts['system']} {facts['machine']}",
        "NumPy": facts["numpy"],
        "Numba": facts["numba"],
        "CPU": facts["cpu"],
        "vectors": f"{facts['vector_bits']} bits ({', '.join(facts['features']) or 'no known feature'})",
        "lanes": f"{facts['lanes_single']} single, {facts['lanes_double']} double precision",
        "threads": f"up to {facts['threads']}",
        "OpenCL": "; ".join(_words_on_device(device) for device in facts["devices"]) or "no device (docs/device.md)",
        "cache": f"{facts['cache_folder']} (set PLIANT_CACHE_DIR to move it)",
        "cache size": f"{_megabytes(facts['cache_bytes'])} in {facts['cache_generations']} generations, {current}",
    }


def _words_on_device(device: dict[str, Any]) -> str:
    without = "" if device["has_double"] else ", no double precision"
    return f"{device['index']} {device['name']} ({device['platform']}, {_megabytes(device['memory_bytes'])}{without})"


def _kernels(scene: str) -> str:
    """The C text of a scene's kernels."""
    from pliant.default_solver import default_solver
    from pliant.model import build_model
    from pliant.scenes.plans import open_plan
    from pliant.solvers.machinery.device_work import kernel_source

    plan = open_plan(scene)
    own, built = plan.solver(), plan.scene()
    solver = own if own is not None and own.supports.device else default_solver(built, "opencl")
    return kernel_source(solver, build_model(built), plan.step_length)


def _scene(scene: str) -> dict[str, Any]:
    from pliant.scenes.plans import open_plan

    plan = open_plan(scene)
    simulation = plan.simulation()
    model = simulation.model
    bodies = [{"name": b.name, "kind": b.kind, "vertices": b.n_vertices} for b in simulation.scene.bodies]
    return {
        "title": plan.title,
        "description": plan.description,
        "bodies": bodies,
        "vertices": model.n_vertices,
        "held_vertices": int((~model.is_free).sum()),
        "tets": model.n_tets,
        "mass_kg": float(model.mass.sum()),
        "solver": str(simulation.solver),
        "iterations": simulation.solver.iterations,
        "substeps": simulation.substeps,
        "frames_a_second": simulation.frame_rate,
        "frames": plan.frames,
        "duration_s": plan.frames / simulation.frame_rate,
        "outputs": [output.file for output in plan.outputs],
    }


def _words_on_scene(facts: dict[str, Any]) -> dict[str, str]:
    return {
        "title": facts["title"],
        "description": facts["description"],
        "bodies": ", ".join(f"{b['name']} ({b['kind']}, {b['vertices']:,} vertices)" for b in facts["bodies"]),
        "vertices": f"{facts['vertices']:,}, {facts['held_vertices']:,} of them held",
        "tets": f"{facts['tets']:,}",
        "mass": f"{facts['mass_kg']:.6g} kg",
        "solver": facts["solver"],
        "steps": f"{facts['substeps']} a frame of 1/{facts['frames_a_second']:g} s, {facts['frames']} frames",
        "outputs": ", ".join(facts["outputs"]) or "none",
    }


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
