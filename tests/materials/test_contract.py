"""What every law of a solid must hold; a new law is tested because it is in the registry."""

import ast
from dataclasses import fields
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.materials import SOLID_LAWS, LameLaw, SolidLaw, lame_parameters
from pliant.materials.calculus import law_code

LAWS = list(SOLID_LAWS.values())
MU, LAM = 1.3e5, 4.1e5
REST = (3.0, 3.0, 1.0)
every_law = pytest.mark.parametrize("law", LAWS, ids=list(SOLID_LAWS))
quick = settings(deadline=None, max_examples=50)


def invariants(F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    C = F.swapaxes(-1, -2) @ F
    return np.trace(C, axis1=-2, axis2=-1), np.sum(C * C, axis=(-2, -1)), np.linalg.det(F)


def random_gradients(seed: int, n: int) -> np.ndarray:
    """n deformation gradients with det F > 0.2."""
    F = np.eye(3) + 0.5 * np.random.default_rng(seed).normal(size=(20 * n, 3, 3))
    F = F[np.linalg.det(F) > 0.2][:n]
    assert len(F) == n
    return F


def made(law: type[SolidLaw]) -> SolidLaw:
    """A material with the moduli MU and LAM, or with MU alone where the law has no lam."""
    return law(MU, LAM) if issubclass(law, LameLaw) else law(MU)


def parameters(law: type[SolidLaw]) -> tuple[float, ...]:
    """mu and lam, and the defaults of what else a law may have."""
    return made(law).parameters


def energy_density(law: type[SolidLaw], F: np.ndarray) -> np.ndarray:
    return law_code(law).functions.energy_density(*invariants(F), *parameters(law))


def derivatives(law: type[SolidLaw], I, II, J) -> tuple[np.ndarray, np.ndarray]:
    """First (3, n) and second (6, n) derivatives, zeros written out."""
    first, second = law_code(law).functions.derivatives(I, II, J, *parameters(law))
    zero = np.zeros_like(np.asarray(J, float))
    return np.array([zero if d is None else zero + d for d in first]), np.array(
        [zero if d is None else zero + d for d in second]
    )


def stress(law: type[SolidLaw], F: np.ndarray) -> np.ndarray:
    """First Piola-Kirchhoff stress P = 2 psi_I F + 4 psi_II F F^T F + psi_J cof F."""
    (psi_I, psi_II, psi_J), _ = derivatives(law, *invariants(F))
    cofactor = np.linalg.det(F)[..., None, None] * np.linalg.inv(F).swapaxes(-1, -2)
    B = F @ F.swapaxes(-1, -2)
    return 2 * psi_I[..., None, None] * F + 4 * psi_II[..., None, None] * (B @ F) + psi_J[..., None, None] * cofactor


@every_law
def test_rest_has_neither_energy_nor_stress(law: type[SolidLaw]) -> None:
    """psi(1) = 0 and P(1) = 0, to rounding of mu and lam; rotated too."""
    assert abs(law_code(law).functions.energy_density(*REST, *parameters(law))) < 1e-12 * MU
    np.testing.assert_allclose(stress(law, np.eye(3)[None])[0], 0, atol=1e-12 * LAM)
    Q = np.linalg.qr(random_gradients(0, 1)[0])[0]
    Q *= np.sign(np.linalg.det(Q))
    np.testing.assert_allclose(stress(law, Q[None])[0], 0, atol=1e-12 * LAM)


@every_law
@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_derivatives_equal_finite_differences(law: type[SolidLaw], seed: int) -> None:
    """psi_k and psi_kl, generated from the formula, equal central differences of psi and of psi_k in I, II and J."""
    values = np.array(invariants(random_gradients(seed, 4)))
    functions = law_code(law).functions
    first, second = derivatives(law, *values)
    step = 1e-4 * np.abs(values)

    def slope(f, k: int) -> np.ndarray:
        """df/dI_k of a function of the invariants, to fourth order in the step."""
        at = []
        for times in (-2, -1, 1, 2):
            moved = values.copy()
            moved[k] = moved[k] + times * step[k]
            at.append(f(*moved))
        return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step[k])

    # what rounding leaves of a difference, beside its own error of order step^4
    psi = functions.energy_density(*values, *parameters(law))
    noise = 1e-13 * (np.abs(psi) + MU + LAM)
    for k in range(3):
        difference = slope(lambda *moved: functions.energy_density(*moved, *parameters(law)), k)
        assert np.all(np.abs(first[k] - difference) <= 1e-6 * np.abs(first[k]) + noise / step[k])
    pairs = [(k, l) for k in range(3) for l in range(k, 3)]
    for (k, l), value in zip(pairs, second, strict=True):
        difference = slope(lambda *moved, k=k: derivatives(law, *moved)[0][k], l)
        noise_of_slope = 1e-13 * (np.abs(first[k]) + (MU + LAM) / np.abs(values[k]))
        assert np.all(np.abs(value - difference) <= 1e-6 * np.abs(value) + noise_of_slope / step[l])


@every_law
@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_small_strain_is_hookes_law(law: type[SolidLaw], seed: int) -> None:
    """d2 psi(1 + t E) / dt2 at t = 0 is 2 mu tr E^2 + lam (tr E)^2 for symmetric E: mu and lam are Lame's."""
    E = np.random.default_rng(seed).normal(size=(3, 3))
    E = (E + E.T) / 2 / np.linalg.norm(E)
    t = 1e-3
    at = [energy_density(law, np.eye(3) + k * t * E) for k in (-2, -1, 0, 1, 2)]
    curvature = (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * t * t)
    expected = 2 * MU * np.trace(E @ E) + made(law).lam * np.trace(E) ** 2
    np.testing.assert_allclose(curvature, expected, rtol=1e-5)


@every_law
@quick
@given(seed=st.integers(0, 2**32 - 1))
def test_rotations_before_and_after_change_nothing(law: type[SolidLaw], seed: int) -> None:
    """psi(Q F R) = psi(F) for rotations Q and R: objective and isotropic; P turns as Q P R."""
    F, A, B = random_gradients(seed, 3)
    Q, R = (np.linalg.qr(M)[0] for M in (A, B))
    Q, R = Q * np.sign(np.linalg.det(Q)), R * np.sign(np.linalg.det(R))
    turned = Q @ F @ R
    np.testing.assert_allclose(energy_density(law, turned), energy_density(law, F), rtol=1e-10, atol=1e-9 * MU)
    np.testing.assert_allclose(stress(law, turned[None])[0], Q @ stress(law, F[None])[0] @ R, atol=1e-7 * LAM)


@every_law
@quick
@given(E=st.floats(1.0, 1e12), nu=st.floats(-0.95, 0.4999))
def test_young_and_poisson_round_trip(law: type[SolidLaw], E: float, nu: float) -> None:
    """E = mu (3 lam + 2 mu) / (lam + mu) and nu = lam / (2 (lam + mu)) give back what from_young took."""
    nu = nu if issubclass(law, LameLaw) else 0.0
    one = law.from_young(E, nu)
    assert type(one) is law
    assert lame_parameters(E, nu) == (one.mu, one.lam)
    np.testing.assert_allclose(one.mu * (3 * one.lam + 2 * one.mu) / (one.lam + one.mu), E, rtol=1e-9)
    np.testing.assert_allclose(one.lam / (2 * (one.lam + one.mu)), nu, rtol=1e-9, atol=1e-12)


@every_law
def test_law_states_its_source_and_units(law: type[SolidLaw]) -> None:
    """A source, a formula in the docstring, a unit for every parameter, Lame's parameters first."""
    assert law.source
    assert "psi" in (law.__doc__ or "")
    assert law.parameter_names() == tuple(field.name for field in fields(law) if field.init)
    lame = ("mu", "lam") if issubclass(law, LameLaw) else ("mu",)
    assert law.parameter_names()[: len(lame)] == lame
    assert all(law.units[name] for name in law.parameter_names())


@every_law
def test_generated_text_is_plain_arithmetic(law: type[SolidLaw]) -> None:
    """Only + - * / and functions of lanes: no powers, attributes, subscripts or branches, which lanes do not have.

    A law of the stretch calls and imports the functions of materials.stretch too.
    """
    tree = ast.parse(law_code(law).text)
    allowed = (ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.Name, ast.expr_context)
    allowed += (
        ast.BinOp,
        ast.UnaryOp,
        ast.Add,
        ast.Sub,
        ast.Mult,
        ast.Div,
        ast.USub,
        ast.Constant,
        ast.Tuple,
        ast.Call,
    )
    stretch = {"trace_of_stretch", "inverse_slope"} if "S" in signature(law.energy_density).parameters else set()
    allowed += (ast.ImportFrom, ast.alias) if stretch else ()
    strange = {type(node).__name__ for node in ast.walk(tree) if not isinstance(node, allowed)}
    assert not strange
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert called <= {"sqrt", "log", "exp", "inverse_cube_root"} | stretch
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    volumetric = {"shear_weight", "volume_energy", "volume_derivatives"}
    assert functions == {"energy_density", "derivatives"} | (volumetric if law_code(law).is_volumetric else set())


@every_law
def test_fast_path_is_the_same_energy(law: type[SolidLaw]) -> None:
    """Where a law splits, psi = w/2 (I - 3) + phi(J), and phi' = psi_J, phi'' = psi_JJ."""
    code = law_code(law)
    if not code.is_volumetric:
        pytest.skip("a general law")
    I, II, J = invariants(random_gradients(1, 50))
    f = code.functions
    split = f.shear_weight(*parameters(law)) / 2 * (I - 3) + f.volume_energy(J, *parameters(law))
    np.testing.assert_allclose(split, f.energy_density(I, II, J, *parameters(law)), rtol=1e-12, atol=1e-10 * LAM)
    first, second = derivatives(law, I, II, J)
    for value, expected in zip(f.volume_derivatives(J, *parameters(law)), (first[2], second[5]), strict=True):
        np.testing.assert_allclose(value + 0 * J, expected, rtol=1e-12, atol=1e-10 * LAM)
