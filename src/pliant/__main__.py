"""`python -m pliant`, where the command `pliant` is not on the path."""

from pliant.cli.main import app

app(prog_name="pliant")
