"""`pliant schema`: what scene files may hold, for editors."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON schema of scene files.

    Editors check and complete a .toml file by it, for example Visual Studio
    Code with "Even Better TOML", when its first line is
    #:schema ./pliant.schema.json

    Example: pliant schema > pliant.schema.json
    """
    import json

    from pliant.scenes.files import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))
