"""Settings that are assigned to names nobody reads are refused: a misspelt one would change nothing, silently."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from pliant.errors import SceneError


class KnownNames:
    """Takes values for the names it has; for others only while it is being built."""

    _is_built = False
    _fixed: ClassVar[Mapping[str, str]] = {}  # what cannot be set any more, with the remedy

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_built and not name.startswith("_"):
            if name in self._fixed:
                raise SceneError(f"{self._label()}: {name!r} is fixed when it is built: {self._fixed[name]}")
            if name not in vars(self) and type(self).__module__.startswith("pliant."):  # others' classes have their own
                self._check_settable(name)
        super().__setattr__(name, value)

    def _check_settable(self, name: str) -> None:
        what, known = self._label(), getattr(type(self), name, None)
        public = [f"{n}()" if n.startswith("set_") else n for n in dir(self) if not n.startswith("_")]
        if known is None:
            like = get_close_matches(name, public, cutoff=0.5)
            hint = f"did you mean {' or '.join(like)}?" if like else "see the reference of its class."
            raise SceneError(f"{what}: {name!r} cannot be set, because nothing has this name: {hint}")
        if isinstance(known, property) and known.fset is None:
            setter = f"set_{name}()"
            raise SceneError(f"{what}: {name!r} can be read only{f': use {setter}' if setter in public else ''}.")

    def _label(self) -> str:
        return str(vars(self).get("name", type(self).__name__))
