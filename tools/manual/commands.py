"""The reference of the command line, from the help texts of `pliant`."""

from __future__ import annotations

import typer

from pliant.cli.main import app

WIDTH = 100  # letters of a line


def page() -> str:
    """Every command with its options as Markdown."""
    group = typer.main.get_command(app)
    parts = ["# Command line", "`pliant COMMAND --help` prints the same."]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        width = {"terminal_width": WIDTH, "max_content_width": WIDTH}
        with typer.Context(command, info_name=f"pliant {name}", **width) as context:
            parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```")
    return "\n\n".join(parts) + "\n"
