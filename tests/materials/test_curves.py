"""Curves of stress over stretch that a laboratory measures: every law against formulas of its principal stretches."""

import numpy as np
import pytest
from scipy.optimize import brentq

from pliant.errors import MaterialError
from pliant.materials import SOLID_LAWS, CompressibleNeoHookean, Fung, LameLaw, MooneyRivlin, SolidLaw
from pliant.materials.calculus import law_code

MU, LAM = 2.0, 5.0
KAPPA = LAM + 2 * MU / 3
# every law as it comes, and with other values of what it has beside mu and lam
MATERIALS: dict[str, SolidLaw] = {
    name: law(MU, LAM) if issubclass(law, LameLaw) else law(MU) for name, law in SOLID_LAWS.items()
}
MATERIALS |= {
    "MooneyRivlin-share-0.7": MooneyRivlin(MU, LAM, share=0.7),
    "Fung-share-0.2": Fung(MU, LAM, share=0.2, growth=0.6),
    "Fung-share-1": Fung(MU, LAM, share=1.0, growth=1.5),
}
every_material = pytest.mark.parametrize("material", MATERIALS.values(), ids=MATERIALS)
with_volume_apart = pytest.mark.parametrize(
    "material", [m for m in MATERIALS.values() if isinstance(m, (CompressibleNeoHookean, MooneyRivlin, Fung))], ids=repr
)


def stress(material: SolidLaw, F: np.ndarray) -> np.ndarray:
    """P = 2 psi_I F + 4 psi_II F F^T F + psi_J cof F, from the derivatives Pliant generates."""
    C = F.T @ F
    J = np.linalg.det(F)
    functions = law_code(type(material)).functions
    first, _ = functions.derivatives(np.trace(C), np.sum(C * C), J, *material.parameters)
    psi_I, psi_II, psi_J = (0.0 if d is None else d for d in first)
    return 2 * psi_I * F + 4 * psi_II * F @ C + psi_J * J * np.linalg.inv(F).T


@pytest.fixture
def textbook(nominal_stress, material):
    """A function: dpsi/dl_i, i = 1, 2, 3, of principal stretches, by hand."""
    formula = nominal_stress[type(material).__name__]

    def stresses(l1: float, l2: float, l3: float) -> np.ndarray:
        turns = [(l1, l2, l3), (l2, l3, l1), (l3, l1, l2)]
        return np.array([formula(*turn, *material.parameters) for turn in turns])

    return stresses


def assert_equal(P: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(P, expected, rtol=0, atol=1e-11 * (MU + LAM + np.abs(expected).max()))


@every_material
@pytest.mark.parametrize("s", [0.7, 0.95, 1.2, 1.6])
def test_uniaxial(material: SolidLaw, textbook, s: float) -> None:
    """Pulled along x, free along y and z."""
    t = brentq(lambda t: textbook(s, t, t)[1], 0.4, 1.4, xtol=1e-15)
    assert_equal(stress(material, np.diag([s, t, t])), np.diag([textbook(s, t, t)[0], 0, 0]))


@every_material
@pytest.mark.parametrize("s", [0.8, 0.95, 1.1, 1.3])
def test_equibiaxial(material: SolidLaw, textbook, s: float) -> None:
    """A sheet pulled alike along x and y, free along z, as when a balloon is blown up."""
    t = brentq(lambda t: textbook(s, s, t)[2], 0.3, 1.8, xtol=1e-15)
    pull = textbook(s, s, t)[0]
    assert_equal(stress(material, np.diag([s, s, t])), np.diag([pull, pull, 0]))
    assert np.sign(pull) == np.sign(s - 1)


@every_material
@pytest.mark.parametrize("g", [-1.5, -0.3, 0.01, 0.5, 1.0, 2.0])
def test_simple_shear(material: SolidLaw, textbook, g: float) -> None:
    """F = 1 + g e_x e_y: stretches l, 1/l and 1 with l - 1/l = g, along (l, 1) and (-1, l) in the deformed body.

    There J = 1, so Cauchy's principal stresses are l_i dpsi/dl_i, and P = sigma F^-T.
    """
    l = g / 2 + np.sqrt(1 + g**2 / 4)
    principal = np.array([l, 1 / l, 1.0])
    axes = np.array([[l, 1, 0], [-1, l, 0], [0, 0, np.hypot(1, l)]]).T / np.hypot(1, l)
    sigma = axes @ np.diag(principal * textbook(*principal)) @ axes.T
    F = np.array([[1, g, 0], [0, 1, 0], [0, 0, 1.0]])
    P = stress(material, F)
    assert_equal(P, sigma @ np.linalg.inv(F).T)
    # whatever the isotropic law: sigma_xx - sigma_yy = g sigma_xy
    cauchy = P @ F.T
    assert cauchy[0, 0] - cauchy[1, 1] == pytest.approx(g * cauchy[0, 1], abs=1e-10 * np.abs(cauchy).max())


@every_material
@pytest.mark.parametrize("s", [0.6, 0.9, 1.0, 1.1, 1.5])
def test_volumetric(material: SolidLaw, textbook, s: float) -> None:
    """Squeezed or swollen alike from all sides."""
    assert_equal(stress(material, s * np.eye(3)), textbook(s, s, s)[0] * np.eye(3))


@every_material
def test_bulk_modulus(material: SolidLaw) -> None:
    """The mean stress a relative change of volume, near rest, is lam + 2 mu / 3."""
    s = 1e-6
    difference = stress(material, (1 + s) * np.eye(3)) - stress(material, (1 - s) * np.eye(3))
    np.testing.assert_allclose(difference / (6 * s), (material.lam + 2 * MU / 3) * np.eye(3), rtol=0, atol=1e-8)


@with_volume_apart
@pytest.mark.parametrize("J", [0.2, 0.8, 1.3, 4.0])
def test_change_of_volume_alone_gives_pressure_alone(material: SolidLaw, J: float) -> None:
    """Cauchy's stress is kappa (J - 1) / J^3 for these laws, shear modulus and stiffening notwithstanding."""
    F = J ** (1 / 3) * np.eye(3)
    cauchy = stress(material, F) @ F.T / J
    np.testing.assert_allclose(cauchy, KAPPA * (J - 1) / J**3 * np.eye(3), rtol=1e-11, atol=1e-11)


@with_volume_apart
def test_change_of_shape_alone_gives_no_pressure(material: SolidLaw) -> None:
    """The trace of Cauchy's stress vanishes at J = 1, whatever the shape."""
    F = np.eye(3) + 0.4 * np.random.default_rng(1).normal(size=(3, 3))
    F /= np.cbrt(np.linalg.det(F))
    cauchy = stress(material, F) @ F.T
    assert np.abs(cauchy).max() > 0.1 * MU
    assert abs(np.trace(cauchy)) < 1e-11 * np.abs(cauchy).max()


# --- special cases ---


def values(material: SolidLaw) -> np.ndarray:
    """Energy, first and second derivatives (10, n) at n random states."""
    F = np.eye(3) + 0.3 * np.random.default_rng(2).normal(size=(200, 3, 3))
    F = F[np.linalg.det(F) > 0.3]
    C = F.swapaxes(1, 2) @ F
    arguments = (np.trace(C, axis1=1, axis2=2), np.sum(C * C, axis=(1, 2)), np.linalg.det(F), *material.parameters)
    functions = law_code(type(material)).functions
    first, second = functions.derivatives(*arguments)
    zero = np.zeros(len(F))
    return np.array(
        [functions.energy_density(*arguments), *(zero if d is None else d + zero for d in (*first, *second))]
    )


@pytest.mark.parametrize("material", [MooneyRivlin(MU, LAM, share=0.0), Fung(MU, LAM, share=0.0)], ids=repr)
def test_without_their_second_part_they_are_neo_hookean(material: SolidLaw) -> None:
    """share = 0: energy and all derivatives."""
    np.testing.assert_allclose(values(material), values(CompressibleNeoHookean(MU, LAM)), rtol=1e-11, atol=1e-11)


def test_fung_tends_to_neo_hookean_as_its_growth_vanishes() -> None:
    """The distance is in proportion to growth: a tenth of the growth, a tenth of the distance."""
    limit = values(CompressibleNeoHookean(MU, LAM))
    scale = np.abs(limit).max(axis=1, keepdims=True) + MU
    distances = [np.abs((values(Fung(MU, LAM, share=0.8, growth=g)) - limit) / scale).max() for g in (1e-3, 1e-4, 1e-5)]
    assert distances[0] < 1e-1
    assert distances[0] / distances[1] == pytest.approx(10, rel=0.05)
    assert distances[1] / distances[2] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("growth", [0.3, 1.0, 2.0])
def test_fung_grows_exponentially_in_shear(growth: float) -> None:
    """P_xy = mu g (1 - share + share exp(growth g^2)), so with share = 1 stresses have the ratio of g exp(growth g^2).

    The neo-Hookean one is a straight line, mu g.
    """

    def shear_stress(material: SolidLaw, g: float) -> float:
        return stress(material, np.array([[1, g, 0], [0, 1, 0], [0, 0, 1.0]]))[0, 1]

    fung = Fung(MU, LAM, share=1.0, growth=growth)
    for g in (0.5, 1.0, 2.0):
        ratio = shear_stress(fung, 1.5 * g) / shear_stress(fung, g)
        assert ratio == pytest.approx(1.5 * np.exp(growth * 1.25 * g**2), rel=1e-10)
        assert shear_stress(CompressibleNeoHookean(MU, LAM), g) == pytest.approx(MU * g, rel=1e-12)


def test_fung_grows_exponentially_in_tension() -> None:
    """At J = 1 and stretch l, log of the stress over neo-Hooke's is growth (l^2 + 2/l - 3), for large stretch too."""
    growth = 0.5
    for l in (2.0, 3.0, 5.0):
        F = np.diag([l, l**-0.5, l**-0.5])
        pull, plain = (
            (P := stress(material, F))[0, 0] - P[1, 1] * l**-1.5  # sides held free by a pressure
            for material in (Fung(MU, LAM, share=1.0, growth=growth), CompressibleNeoHookean(MU, LAM))
        )
        assert np.log(pull / plain) == pytest.approx(growth * (l**2 + 2 / l - 3), rel=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_mooneys_plot_is_a_straight_line(share: float) -> None:
    """At J = 1, stress / (l - 1/l^2) = mu (1 - share) + mu share / l: how c_1 and c_2 are read off a test."""
    for l in (0.5, 0.9, 1.1, 2.0, 3.0):
        P = stress(MooneyRivlin(MU, LAM, share=share), np.diag([l, l**-0.5, l**-0.5]))
        pull = P[0, 0] - P[1, 1] * l**-1.5
        assert pull / (l - l**-2) == pytest.approx(MU * (1 - share) + MU * share / l, rel=1e-10)


@pytest.mark.parametrize("growth", [0.0, -1.0, float("nan")])
def test_growth_must_be_positive(growth: float) -> None:
    with pytest.raises(MaterialError, match="growth is"):
        Fung(MU, LAM, growth=growth)
