"""Functions of elements.tet compiled for every precision and width; width 1 is the plain float."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from pliant.lanes.cache import load_module

SOURCE = Path(__file__).parent / "tet_kernels.py"
DECLARATION = 'PRECISION, WIDTH = "single", 1\n'


@pytest.fixture(scope="session")
def tet_kernels() -> Callable[[str, int], ModuleType]:
    """The module tet_kernels for a precision and a width."""
    text = SOURCE.read_text()
    assert DECLARATION in text

    @cache
    def load(precision: str, width: int) -> ModuleType:
        own = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n')
        return load_module("tet_kernels", own, f"the tetrahedron under test ({precision}, {width})")

    return load
