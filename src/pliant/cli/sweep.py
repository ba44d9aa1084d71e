"""`pliant sweep`: many runs of one scene with different values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli.output import print_json, writable_folder
from pliant.cli.run import Json, Quiet, Scene, Settings, Solver


def sweep(
    scene: Scene,
    vary: Annotated[
        list[str],
        typer.Option("--vary", metavar="KEY=VALUES", help="Values as 1,2,3 or FIRST..LAST:COUNT[:log]; repeatable."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for results. Default: the scene's name and -sweep.")
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=1, max=512, help="Runs at a time, each in a process of its own.")
    ] = 1,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask scheduler's workers (extra `dask`).")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Plot a column of the table into results.png (extra `plot`).")
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Also write the table as results.parquet (extra `parquet`).")
    ] = False,
    solver: Solver = None,
    settings: Settings = None,
    frames: Annotated[int | None, typer.Option(min=1, help="Frames of each run.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=1024, help="Threads of each run.")] = 1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a scene for every combination of values and make one table.

    Keys are those of --set. The table, results.csv, has a row per run. Runs
    whose process is killed are repeated. The same command, started again,
    continues with the runs that have not finished. With --cluster, the workers
    of a Dask scheduler do the runs; they need Pliant and the same folder.

    \b
    Example: pliant sweep drop --vary contact.friction=0.1,0.3
             pliant sweep beam.toml -j 4 --vary bodies.0.density=100..1000:5:log
             pliant sweep drop --cluster tcp://head:9 --vary contact.friction=0,1
    """
    from pliant.scenes import sweep_parquet, sweep_plots
    from pliant.scenes.clusters import run_on_cluster
    from pliant.scenes.plans import open_plan
    from pliant.scenes.sweeps import Sweep, varied

    if plot is not None:
        sweep_plots.check_column(plot)
    if parquet:
        sweep_parquet.check_parquet()
    grid = [varied(text) for text in vary]
    first = [f"{one.key}={one.values[0]}" for one in grid]
    open_plan(scene, solver, [*(settings or []), *first])  # what is wrong with the scene is told once
    options = [word for setting in settings or [] for word in ("--set", setting)]
    options += ["--threads", str(threads)]
    options += [] if solver is None else ["--solver", solver]
    options += [] if frames is None else ["--frames", str(frames)]
    name = str(Path(scene).resolve()) if Path(scene).exists() else scene
    plan = Sweep(name, grid, writable_folder(out or Path(f"{Path(scene).stem}-sweep")).resolve(), options)
    plan.keep()

    def told(job: int, report: dict[str, Any]) -> None:
        if not (quiet or as_json):
            values = ", ".join(f"{one.key}={v}" for one, v in zip(grid, plan.jobs[job], strict=True))
            typer.echo(f"{job + 1}/{plan.count} {values}: {report['status']} {report.get('error', '')}".rstrip())

    if cluster is None:
        plan.run(jobs, told)
    else:
        run_on_cluster(plan, cluster, told)
    if plot is not None:
        sweep_plots.draw(plan, plot)
    if parquet:
        sweep_parquet.write_parquet(plan)
    reports = [plan.report_of(job) or {"status": "missing"} for job in range(plan.count)]
    counts = {status: sum(r["status"] == status for r in reports) for status in ("done", "failed", "missing")}
    table = plan.folder / "results.csv"
    if as_json:
        print_json({"runs": plan.count, **counts, "table": str(table)})
    elif not quiet:
        typer.echo(f"{counts['done']} of {plan.count} runs done, {counts['failed']} failed: {table}")
    if counts["done"] < plan.count:
        raise typer.Exit(1)
