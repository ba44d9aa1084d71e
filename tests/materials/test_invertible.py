"""Options of the invertible conversion, and the smallest stretch it is steered by."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import MaterialError
from pliant.materials import stretch

LAW = pl.NeoHookean(2e4, 5e4)
smallest_stretch = stretch.smallest_stretch


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lower": 0.2, "upper": 0.2}, "lower is 0.2 and upper 0.2"),
        ({"upper": 1.0}, "upper 1.0"),
        ({"lower": float("nan")}, "lower is nan"),
        ({"release": 0.0}, "release is 0.0"),
        ({"release": 1.5}, "release is 1.5"),
        ({"stiffness": 0.0}, "stiffness is 0.0"),
        ({"stiffness": "stiff"}, "stiffness is 'stiff'"),
    ],
)
def test_bad_options_are_refused(options: dict, words: str) -> None:
    """By name and value."""
    with pytest.raises(MaterialError, match=words):
        pl.Invertible(LAW, **options)


def test_a_class_is_no_law() -> None:
    with pytest.raises(MaterialError, match="give a law"):
        pl.Invertible(pl.NeoHookean)


def test_stiffness_is_the_shear_modulus_unless_given() -> None:
    """2 psi_I + 8 psi_II at rest, for laws with and without a lam and for a user's own."""

    @pl.material
    def mine(I, II, J, c):
        return c / 2 * (I - 3) - c * (J - 1) + c * (J - 1) ** 2

    for law, shear in ((LAW, 2e4), (pl.ARAP(3e4), 3e4), (pl.MooneyRivlin(7e3, 1e4), 7e3), (mine(c=5.0), 5.0)):
        assert pl.Invertible(law).conversion == (0.05, 0.15, 0.05, pytest.approx(shear, rel=1e-12))
    assert pl.Invertible(LAW, stiffness=9.0).conversion[3] == 9.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["single", "double"])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
def test_smallest_stretch(dtype, scale: float) -> None:
    """The smallest singular value with the sign of det F, to the root of the rounding of the largest."""
    F = np.random.default_rng(5).normal(size=(5000, 3, 3)) * scale
    C = F.swapaxes(1, 2) @ F
    given = (np.trace(C, axis1=1, axis2=2), np.sum(C * C, axis=(1, 2)), np.linalg.det(F))
    got = smallest_stretch(*(np.array(a, dtype) for a in given))
    singular = np.linalg.svd(F, compute_uv=False)
    expected = singular[:, 2] * np.sign(np.linalg.det(F))
    assert np.max(np.abs(got - expected) / singular[:, 0]) < 4 * np.finfo(dtype).eps ** 0.5 + 1e-6


@pytest.mark.parametrize(
    ("s", "smallest"),
    [((1, 1, 1), 1), ((1, 1, 0), 0), ((1, 0, 0), 0), ((0, 0, 0), 0), ((1, 1, -1), -1), ((2, 1, 1), 1)],
)
def test_smallest_stretch_of_degenerate_elements(s, smallest) -> None:
    """Equal and vanishing stretches: the root is double or triple, and the answer is still a number near it."""
    a = np.array([s], float)
    got = smallest_stretch((a**2).sum(1), (a**4).sum(1), a.prod(1))[0]
    assert got == pytest.approx(smallest, abs=2e-3)


def test_cloth_is_no_solid() -> None:
    """The conversion is for tets: a cloth refuses it in words."""
    with pytest.raises(pl.SceneError, match="the material is Invertible"):
        pl.Scene().add_cloth(pl.shapes.cloth(), pl.Invertible(LAW))
