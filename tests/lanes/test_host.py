"""What is said of the CPU is consistent."""

import os

import pytest

from pliant.lanes import host
from pliant.lanes.types import PRECISIONS, WIDTHS


@pytest.mark.parametrize("precision", PRECISIONS)
def test_width_fits_the_vector_registers(precision: str) -> None:
    """The default width is one that lanes have, and fills exactly one register unless that is below 4 lanes."""
    bits = {"single": 32, "double": 64}[precision]
    width = host.default_width(precision)
    assert width in WIDTHS
    assert host.vector_bits() in (128, 256, 512)
    assert width * bits == host.vector_bits() or (width == 4 and host.vector_bits() < 4 * bits)


@pytest.mark.parametrize(
    ("features", "bits"), [({"sse2"}, 128), ({"avx", "avx2"}, 256), ({"avx", "avx512f"}, 512), ({"neon"}, 128)]
)
def test_register_bits_follow_the_features(features: set[str], bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """128 bits are everywhere, AVX has 256, AVX-512 has 512; lanes are 4 at least."""
    monkeypatch.setattr(host, "cpu_features", lambda: frozenset(features))
    assert host.vector_bits() == bits
    assert host.default_width("single") == bits // 32
    assert host.default_width("double") == max(4, bits // 64)


def test_cores_are_those_the_process_may_use() -> None:
    """At least one and no more than the machine has."""
    assert 1 <= host.core_count() <= (os.cpu_count() or 1)
