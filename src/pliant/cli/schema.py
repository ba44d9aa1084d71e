"""`pliant schema`: what scene files may hold, for editors."""

from __future__ import annotations

import typer


def schema() -> None:
    """Print the JSON schema of scene files.

    Editors use it to check and complete .toml files. In Visual Studio Code,
    for example, install "Even Better TOML" and make this the first line:
    #:schema ./pliant.schema.json

    Example: pliant schema > pliant.schema.json
    """
    import json

    from pliant.scenes.files import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))
