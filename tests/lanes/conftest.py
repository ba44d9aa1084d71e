"""Operations of lanes compiled for every precision and width; width 1 is the plain float."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pliant.lanes.cache import load_module
from pliant.lanes.types import DTYPES, PRECISIONS, WIDTHS

SOURCE = Path(__file__).parent / "lane_kernels.py"
DECLARATION = 'PRECISION, WIDTH = "single", 1\n'


@dataclass(frozen=True)
class Kernels:
    """A compiled lane_kernels module, and how to call its functions on flat arrays."""

    module: ModuleType
    precision: str
    width: int

    @property
    def dtype(self) -> type[np.floating]:
        return DTYPES[self.precision]

    def results(self, name: str, count: int, *arrays: np.ndarray) -> np.ndarray:
        """The (count, n) results of a function of flat arrays (n,), n a multiple of the width."""
        out = np.full(count * len(arrays[0]), np.nan, self.dtype)
        getattr(self.module, name)(*(np.ascontiguousarray(a, self.dtype) for a in arrays), out)
        return out.reshape(count, -1)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """(n, k) as the kernels want it: flat (n / width, k, width)."""
        values = np.asarray(values, self.dtype)
        return values.reshape(-1, self.width, values.shape[1]).transpose(0, 2, 1).ravel()

    def gather(self, flat: np.ndarray, k: int) -> np.ndarray:
        """Flat (n / width, k, width) back to (n, k)."""
        return flat.reshape(-1, k, self.width).transpose(0, 2, 1).reshape(-1, k)


@pytest.fixture(
    scope="session", params=[(p, w) for p in PRECISIONS for w in (1, *WIDTHS)], ids=lambda p: f"{p[0]}x{p[1]}"
)
def kernels(request: pytest.FixtureRequest) -> Kernels:
    precision, width = request.param
    text = SOURCE.read_text()
    assert DECLARATION in text
    text = text.replace(DECLARATION, f'PRECISION, WIDTH = "{precision}", {width}\n')
    return Kernels(load_module("lane_kernels", text, f"lanes under test ({precision}, {width})"), precision, width)
