"""A body's law as a table, with arrays for what varies within the body."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError
from pliant.materials import SOLID_LAWS, Invertible, SolidLaw


def describe_law(path: Path, name: str, law: SolidLaw | Invertible) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The table of a body's law, and arrays for its .npz file of parameters with one number per element.

    The table has the mean of those, and names the file.
    """
    if isinstance(law, Invertible):
        inside, varying = describe_law(path, name, law.law)
        options = {field.name: getattr(law, field.name) for field in fields(law) if field.name != "law"}
        return {**inside, "invertible": options}, varying
    if type(law) is not SOLID_LAWS.get(type(law).__name__):
        raise FileError(f"{path}: {name} has the law {type(law).__name__}, which is not one that scene files know.")
    parameters = dict(zip(law.parameter_names(), law.parameters, strict=True))
    varying = {key: value for key, value in parameters.items() if isinstance(value, np.ndarray)}
    table = {"law": type(law).__name__, **{key: float(np.mean(value)) for key, value in parameters.items()}}
    return {**table, "elements": f"{path.stem}.{name}.npz" if varying else None}, varying
