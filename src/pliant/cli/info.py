"""`pliant info`: what this computer offers, and what is kept on it."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer

SHOWN_FEATURES = ("sse4.2", "avx", "fma", "avx2", "avx512f", "neon", "sve")


def info(
    scene: Annotated[
        str | None, typer.Argument(metavar="SCENE", help="A .toml file, a .py file or a gallery name.")
    ] = None,
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Delete all compiled code; it is compiled again when needed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of words.")] = False,
) -> None:
    """Show versions, the CPU and the cache; or what a scene holds.

    \b
    Example: pliant info
             pliant info twist
             pliant info --clear-cache
    """
    from pliant.lanes import cache

    rows = _rows if scene is None else lambda: _scene_rows(scene)
    if as_json:
        typer.echo(json.dumps(dict(rows()), indent=2))
        return
    if clear_cache:
        freed, folders = cache.size_in_bytes(), cache.clear()
        typer.echo(f"Deleted {folders} generation{'' if folders == 1 else 's'} of compiled code, {_megabytes(freed)}.")
    for name, value in rows():
        typer.echo(f"{name:<16}{value}")


def _rows() -> list[tuple[str, str]]:
    import numba
    import numpy

    from pliant import __version__
    from pliant.lanes import cache, host

    features = [name for name in SHOWN_FEATURES if name in host.cpu_features()]
    generations = cache.generations()
    current = "this one among them" if any(g.name == cache.fingerprint() for g in generations) else "none of this one"
    return [
        ("pliant", __version__),
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("NumPy", numpy.__version__),
        ("Numba", numba.__version__),
        ("CPU", host.cpu_name()),
        ("vectors", f"{host.vector_bits()} bits ({', '.join(features) or 'no known feature'})"),
        ("lanes", f"{host.default_width('single')} single, {host.default_width('double')} double precision"),
        ("threads", f"up to {host.core_count()}"),
        ("cache", f"{cache.cache_folder()} (set PLIANT_CACHE_DIR to move it)"),
        ("cache size", f"{_megabytes(cache.size_in_bytes())} in {len(generations)} generations, {current}"),
    ]


def _scene_rows(scene: str) -> list[tuple[str, str]]:
    from pliant.scenes.plans import open_plan

    plan = open_plan(scene)
    simulation = plan.simulation()
    model, bodies = simulation.model, simulation.scene.bodies
    kinds = [f"{body.name} ({body.kind}, {body.n_vertices:,} vertices)" for body in bodies]
    return [
        ("title", plan.title),
        ("description", plan.description),
        ("bodies", ", ".join(kinds)),
        ("vertices", f"{model.n_vertices:,}, {int((~model.is_free).sum()):,} of them held"),
        ("tets", f"{model.n_tets:,}"),
        ("mass", f"{model.mass.sum():.6g} kg"),
        ("solver", str(simulation.solver)),
        ("steps", f"{simulation.substeps} a frame of 1/{simulation.frame_rate:g} s, {plan.frames} frames"),
        ("outputs", ", ".join(output.file for output in plan.outputs) or "none"),
    ]


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
