"""The command `pliant`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pliant import FileError, PliantError, __version__
from pliant.cli.bench import bench
from pliant.cli.compare import compare
from pliant.cli.convert import convert
from pliant.cli.demo import demo
from pliant.cli.explain import explain
from pliant.cli.info import info
from pliant.cli.render import render
from pliant.cli.run import gallery, resume, run
from pliant.cli.schema import schema
from pliant.cli.sweep import sweep
from pliant.cli.view import view
from pliant.garbage import collected_rarely
from pliant.help_links import see

FAILED, INTERRUPTED = 1, 130  # exit codes; 130 is what shells give a command that Ctrl-C ended


class Commands(TyperGroup):
    """The one place where errors become a line on standard error and an exit code."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and is_scene(args[0]):
            ctx.fail(f"{args[0]!r} is a scene, not a command: pliant run {args[0]}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with collected_rarely():
                return super().invoke(ctx)
        except PliantError as error:
            _tell(error)
            raise typer.Exit(FAILED) from None
        except OSError as error:  # what the system refuses: names that are too long, folders that are files
            if error.filename is None:
                raise
            _tell(FileError(f"{_shortened(error.filename)}: {error.strerror}. Choose another name or folder."))
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            typer.echo("Stopped.", err=True)
            raise typer.Exit(INTERRUPTED) from None


def is_scene(name: str) -> bool:
    """Whether it looks like a scene file, or is a name of the gallery."""
    from pliant.scenes.gallery import entries

    return name.endswith((".toml", ".py")) or name in [entry.name for entry in entries()]


def _tell(error: PliantError) -> None:
    typer.secho(f"Error: {error}", err=True, fg="red")
    typer.echo(see(error.entry), err=True)


def _shortened(name: object) -> str:
    text = str(name)
    return text if len(text) <= 100 else f"{text[:60]}...{text[-30:]}"


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pliant {__version__}")
        raise typer.Exit


@app.callback()
def pliant(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Simulate deformable bodies, fast, on the CPU you have.

    Start with: pliant demo, or pliant gallery
    """


for command in (demo, run, view, resume, sweep, compare, gallery, render, convert, schema, bench, info, explain):
    app.command()(command)

if __name__ == "__main__":
    app()
