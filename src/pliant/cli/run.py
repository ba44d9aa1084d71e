"""`pliant run`, `pliant resume` and `pliant gallery`: simulate a scene and say how far it is."""

from __future__ import annotations

import shutil
import textwrap
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pliant.cli.compile_bar import compile_bar
from pliant.cli.output import log_above_bar, only_warnings, print_json, writable_folder
from pliant.cli.start_file import forget_start, kept_start, start_of

if TYPE_CHECKING:
    from pliant.scenes.runs import Run

MEASURE_SECONDS = 1.0  # a residual takes about as long as a step: it is not measured more often

Scene = Annotated[str, typer.Argument(metavar="SCENE", help="A .toml file, a .py file or a gallery name.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder for results. Default: the scene's name.")]
Solver = Annotated[str | None, typer.Option(help="Use another solver, with its default options: newton, vbd ...")]
Integrator = Annotated[str | None, typer.Option(help="Time integrator: euler, bdf2 or midpoint.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scene; repeatable.")
]
Frames = Annotated[int | None, typer.Option(min=1, help="Frames to simulate. Default: the duration of the scene.")]
Output = Annotated[
    list[Path] | None,
    typer.Option("--output", metavar="FILE", help="Also write this result, in any folder; repeatable."),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, help="Number of threads. Default: whatever is fastest. Results are the same for any number."),
]
Device = Annotated[
    str, typer.Option(help="cpu, auto, or opencl to run the iterations on an OpenCL device (`pliant info` lists them).")
]
Keep = Annotated[float, typer.Option("--keep-every", min=0.0, help="Seconds between checkpoints.")]
Static = Annotated[
    bool, typer.Option("--static", help="Compute the static shape under the scene's loads instead of a motion.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def run(
    scene: Scene,
    out: Out = None,
    solver: Solver = None,
    settings: Settings = None,
    frames: Frames = None,
    output: Output = None,
    threads: Threads = None,
    device: Device = "cpu",
    keep_every: Keep = 30.0,
    integrator: Integrator = None,
    static: Static = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Simulate a scene and write its results.

    Ctrl-C or SIGTERM stops after the current frame and writes a checkpoint. A
    killed run loses at most the last --keep-every seconds. In each case
    `pliant resume` continues it, with the same results to the bit.

    \b
    Example: pliant run twist.toml
             pliant run twist --solver newton --set solver.iterations=50
             pliant run twist --set bodies.0.density=500 --output twist.mp4
             pliant run cantilever --static
             pliant run cantilever --solver vbd --device opencl
    """
    folder = out or Path(Path(scene).stem)
    settings = [*(settings or ()), *(() if integrator is None else (f"simulation.integrator={integrator}",))]
    if static:
        writable_folder(folder)
        with only_warnings(quiet):
            from pliant.cli.static import find_equilibrium
            from pliant.scenes.plans import open_plan

            plan = open_plan(scene, solver, settings, threads)
            own = None if solver is None else plan.solver()
            find_equilibrium(plan, own, folder, output or (), threads, quiet, as_json)
        return
    asked = {"solver": solver, "settings": settings, "frames": frames, "keep_every": keep_every}
    asked["device"] = device
    with kept_start(folder, scene, output or (), **asked), only_warnings(quiet):
        from pliant.scenes.plans import open_plan
        from pliant.scenes.runs import Run

        plan = open_plan(scene, solver, settings, threads, device)
        with compile_bar(quiet or as_json):
            simulation = plan.simulation()
        total = frames or plan.frames
        _perform(Run(simulation, total, folder, plan.outputs, output or (), keep_every, plan.title), quiet, as_json)


def resume(
    checkpoint: Annotated[Path, typer.Argument(help="A checkpoint, such as twist/run.npz.")],
    frames: Annotated[
        int | None, typer.Option(min=1, help="Number of further frames. Default: those that were left.")
    ] = None,
    output: Output = None,
    threads: Threads = None,
    device: Annotated[str | None, typer.Option(help="cpu, opencl or auto. Default: cpu.")] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Continue a run that was stopped, as if it had not been.

    Results of the remaining frames go into the same folder, with the number of
    the first frame in their names. Results of --output must be named again.

    \b
    Example: pliant resume twist/run.npz
             pliant resume demo/demo.npz --frames 60
    """
    start = start_of(checkpoint)
    writable_folder(checkpoint.parent)
    if start is not None:  # killed before the first checkpoint
        run(
            start["scene"],
            out=checkpoint.parent,
            solver=start["solver"],
            settings=start["settings"],
            frames=frames or start["frames"],
            output=[*start["output"], *(output or ())],
            threads=threads,
            device=device or start.get("device", "cpu"),
            keep_every=start["keep_every"],
            quiet=quiet,
            as_json=as_json,
        )
        return
    from pliant.scenes.runs import Run

    with only_warnings(quiet):
        resumed = Run.resumed(checkpoint, frames, threads, output or (), device or "cpu")
        forget_start(checkpoint)
        _perform(resumed, quiet, as_json)


def gallery(
    name: Annotated[str | None, typer.Argument(help="The scene to run; without it, the gallery is listed.")] = None,
    out: Out = None,
    threads: Threads = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """List the scenes that come with Pliant, or run one.

    \b
    Example: pliant gallery
             pliant gallery twist
    """
    if name is not None:
        run(name, out, threads=threads, quiet=quiet, as_json=as_json)
        return
    from pliant.scenes.gallery import entries

    if as_json:
        about = [{**vars(entry), "thumbnail": str(entry.thumbnail)} for entry in entries()]
        print_json(about)
        return
    width, indent = shutil.get_terminal_size().columns, " " * 16
    for entry in entries():
        typer.echo(f"{entry.name:<16}{entry.title}  ({entry.run_seconds:.0f} s)")
        typer.echo(textwrap.fill(entry.description, width, initial_indent=indent, subsequent_indent=indent))
    typer.echo("\nRun one with: pliant gallery NAME, see it move with: pliant view NAME")
    typer.echo(
        "A movie of it: pliant render NAME/NAME.npz -o NAME.mp4. The first run with contact compiles for a minute."
    )


# --- inside -----------------------------------------------------------------------------------------------------------


def _perform(run: Run, quiet: bool, as_json: bool) -> None:
    """Run to the end, showing how far it is on standard error, then say what was written."""
    from pliant.cli.summary import RunSummary

    run.check_places()
    simulation = run.simulation
    if not (quiet or as_json):
        model = simulation.model
        count = len(simulation.scene.bodies)
        typer.echo(f"{run.title}: {count} {'body' if count == 1 else 'bodies'}, {model.n_vertices:,} vertices.")
    summary = RunSummary(simulation)
    began = time.perf_counter()
    with summary.watching():
        _advance(run, silent=quiet or as_json)
    seconds = time.perf_counter() - began
    done = run.frames_done - run.first_frame
    if as_json:
        print_json({**_summary(run, done, seconds), **summary.numbers(seconds)})
    elif not quiet:
        typer.echo(
            f"{done} frames, {simulation.time:.3f} s, in {seconds:.1f} s: {done / seconds:.1f} frames per second."
        )
        for line in summary.lines(seconds):
            typer.echo(line)
        for path in (*run.results, run.checkpoint):
            typer.echo(f"  {path}")
        if shown := next((path for path in run.results if path.suffix == ".npz"), None):
            movie = shown.with_suffix(".mp4").name
            typer.echo(f"Watch it with: pliant view {shown}, or make a movie: pliant render {shown} -o {movie}")
        for journal, path in run.unfinished:
            typer.echo(f"An earlier part was cut off; finish it with: pliant convert {journal} {path}")


def _summary(run: Run, frames: int, seconds: float) -> dict[str, Any]:
    simulation, report = run.simulation, run.report
    return {
        "title": run.title,
        "frames": frames,
        "time": simulation.time,
        "seconds": seconds,
        "frames_a_second": frames / seconds,
        "solver": type(simulation.solver).__name__,
        "iterations": report.iterations if report else simulation.solver.iterations,
        "contacts": simulation.n_contacts,
        "residual": report.residual if report else None,
        "vertices": simulation.model.n_vertices,
        "results": [str(path) for path in run.results],
        "checkpoint": str(run.checkpoint),
    }


def _advance(run: Run, silent: bool) -> None:
    if silent:
        for _ in run:
            pass
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(12), TextColumn("{task.description}"), TimeRemainingColumn(compact=True), TextColumn("left"))
    frames = iter(run)
    with compile_bar(silent=False), log_above_bar():  # most is compiled in the first frame
        first = next(frames, run.first_frame)
    with Progress(*columns, console=Console(stderr=True)) as bar, log_above_bar():
        task = bar.add_task("", total=run.frames - run.first_frame)
        status = _Status(run)
        for done in chain((first,), frames):
            bar.update(task, description=status.text(), completed=done - run.first_frame)


class _Status:
    """One line: frame, simulated time, frames per second, iterations, residual and contacts, if there can be any."""

    def __init__(self, run: Run):
        self._run, self._began = run, time.monotonic()
        self._measured, self._residual = 0.0, float("nan")

    def text(self) -> str:
        run, now = self._run, time.monotonic()
        if run.report is not None and now - self._measured >= MEASURE_SECONDS:
            self._residual, self._measured = run.report.residual, now
        speed = (run.frames_done - run.first_frame) / max(now - self._began, 1e-9)
        contacts = f" {run.simulation.n_contacts} contacts" if run.simulation.model.contact else ""
        return (
            f"{run.frames_done}/{run.frames} {run.simulation.time:.2f} s {speed:.1f}/s "
            f"{run.report.iterations if run.report else 0} it. {self._residual:.1e} m/s2{contacts}"
        )
