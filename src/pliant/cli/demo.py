"""`pliant demo`: a beam is wrung until it buckles."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pliant.cli.output import writable_folder
from pliant.errors import FileError, PliantError

if TYPE_CHECKING:
    import numpy as np

    from pliant.model import Scene
    from pliant.simulate import Simulation

PANELS = 7  # moments in the picture


def demo(
    frames: Annotated[int, typer.Option(min=1, help="Frames to simulate; 60 make a second.")] = 120,
    out: Annotated[Path, typer.Option(help="Folder to write into; made if it does not exist.")] = Path("demo"),
) -> None:
    """Wring a soft beam until it buckles, and draw it.

    Simulates 23,040 tetrahedra and writes a picture (PNG), the last shape for ParaView (VTU) and a checkpoint
    (NPZ). Takes some seconds; the first run also compiles. Ctrl-C stops it and keeps a checkpoint.

    Example: pliant demo --frames 60 --out demo
    """
    folder = writable_folder(out)
    from pliant import Simulation, scenes

    scene = scenes.twisted_beam()
    mesh = scene.solids[0].mesh
    typer.echo(f"Wringing a soft beam of {mesh.n_tets:,} tetrahedra and {mesh.n_vertices:,} vertices.")
    simulation = Simulation(scene)
    typer.echo(
        f"{frames} frames of 1/{simulation.frame_rate:g} s, {simulation.substeps} steps per frame, "
        "iterations as each step needs."
    )
    checkpoint = folder / "demo.npz"
    began = time.perf_counter()
    try:
        moments = _simulate(simulation, frames, checkpoint)
    except KeyboardInterrupt:
        typer.echo(_how_to_resume(checkpoint))
        raise
    seconds = time.perf_counter() - began
    typer.echo(f"Simulated {simulation.time:.2f} s in {seconds:.1f} s.")
    _write_results(simulation, folder, checkpoint)
    _draw(scene, moments, folder / "demo.png")
    typer.echo(_how_to_resume(checkpoint))


def _simulate(simulation: Simulation, frames: int, checkpoint: Path) -> dict[float, np.ndarray]:
    """Run, and keep the positions (n, 3) of the moments [s] to draw."""
    shown = {round(k * frames / (PANELS - 1)) for k in range(PANELS)}
    moments = {0.0: simulation.positions}
    for frame in simulation.frames(frames, progress=True, on_interrupt=checkpoint):
        if frame + 1 in shown:
            moments[simulation.time] = simulation.positions
    return moments


def _write_results(simulation: Simulation, folder: Path, checkpoint: Path) -> None:
    from pliant import save_mesh

    shape = folder / "demo.vtu"
    simulation.save(checkpoint)
    save_mesh(shape, simulation.scene.solids[0].mesh, simulation.positions)
    typer.echo(f"Last shape:  {shape} (open it with ParaView)")


def _draw(scene: Scene, moments: dict[float, np.ndarray], path: Path) -> None:
    """The picture is not what the run was for: without it, the rest is still worth having."""
    from pliant.viewer.pictures import BODY_COLOURS, Surface, bands, strip

    mesh = scene.solids[0].mesh
    colours = bands(mesh.points, mesh.surface_triangles, axis=2, count=12, colour=BODY_COLOURS[0])
    try:
        strip(list(moments.values()), list(moments), Surface(mesh.surface_triangles, colours), path)
    except FileError:
        raise
    except PliantError as reason:
        typer.secho(f"No picture was made. {reason}", fg="yellow")
    else:
        typer.echo(f"Picture:     {path}")


def _how_to_resume(checkpoint: Path) -> str:
    return f"Checkpoint:  {checkpoint}. Go on from it with: pliant resume {checkpoint} --frames 60"
