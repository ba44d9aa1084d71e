"""A sweep's table as Parquet (extra `parquet`), with types: pandas, Polars, DuckDB and Spark read it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pliant.errors import PliantError
from pliant.scenes.sweeps import Sweep


def check_parquet() -> None:
    """Refuse before anything runs."""
    _pyarrow()


def write_parquet(sweep: Sweep) -> Path:
    """results.parquet in the sweep's folder; values that are numbers, all of a key, are numbers."""
    pyarrow, parquet = _pyarrow()
    path = sweep.folder / "results.parquet"
    columns = zip(*sweep.rows(), strict=True)
    table = pyarrow.table({name: _typed(values) for name, values in zip(sweep.columns(), columns, strict=True)})
    temporary = path.with_suffix(".tmp")
    parquet.write_table(table, temporary)
    os.replace(temporary, path)
    return path


def _typed(values: Sequence[Any]) -> list[Any]:
    """Texts as whole numbers, or else as numbers, if all of them are."""
    if not all(isinstance(value, str) for value in values):
        return list(values)
    for kind in (int, float):
        try:
            return [kind(value) for value in values]
        except ValueError:
            continue
    return list(values)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise PliantError('--parquet needs the package pyarrow: pip install "pliant[parquet]".') from None
    return pyarrow, parquet
