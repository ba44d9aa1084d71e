"""scipy.sparse, imported when it is first used: a scene that assembles no matrix starts a tenth of a second sooner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.garbage import uncollected

__all__ = ["sp"]

FORTRAN = "f2py"  # NumPy's compiler of Fortran, which it imports when it is first asked for it


@contextmanager
def without_fortran() -> Iterator[None]:
    """SciPy copies all that NumPy names; f2py and what it needs take a quarter of the time of importing SciPy."""
    listed, named = np.__all__, np.__dir__
    names = [name for name in dir(np) if name != FORTRAN]
    np.__all__ = [name for name in listed if name != FORTRAN]
    np.__dir__ = lambda: names  # type: ignore[method-assign]
    try:
        yield
    finally:
        np.__all__, np.__dir__ = listed, named  # type: ignore[method-assign]


if TYPE_CHECKING:
    import scipy.sparse as sp
else:

    class _Later:
        def __getattr__(self, name: str) -> Any:
            with uncollected(), without_fortran():
                value = getattr(import_module("scipy.sparse"), name)
            setattr(self, name, value)
            return value

    sp = _Later()
