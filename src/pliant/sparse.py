"""scipy.sparse, imported when it is first used: a scene that assembles no matrix starts a tenth of a second sooner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["sp"]

if TYPE_CHECKING:
    import scipy.sparse as sp
else:

    class _Later:
        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module("scipy.sparse"), name)
            setattr(self, name, value)
            return value

    sp = _Later()
