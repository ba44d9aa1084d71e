"""Homogenised yarn-level cloth: an energy of six strains, fitted to simulated or measured yarns (Sperl et al. 2020).

A material is a JSON file:

    density        [kg/m^2]
    strain scale   five numbers that divide s_x - 1, s_a, s_y - 1 and the two curvatures [1/m]
    coeffs         const [J/m^2];
                   1D: for each strain k the knots t, values p and slopes m;
                   2D: for pairs k0 < k1 the knots tu, tv, values p, slopes mu, mv and twists muv, row by row of v;
                   ext: beyond the last knots 0 linear, 1 constant, 2 zero
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pliant.arguments import NO_NUMBER, is_finite_number
from pliant.errors import FileError, MaterialError
from pliant.lanes.aligned import aligned
from pliant.materials import splines
from pliant.materials.splines import (
    Axis,
    SplineTable,
    TableWriter,
    bucket_count,
    common_knots,
    make_axis,
    on_axis,
    pieces,
    surface_on_axes,
    surface_pieces,
)
from pliant.materials.yarn_density import LINES, PAIRS, STRAINS, yarn_density, yarn_derivatives

LEAST_ROOT = 1e-15  # [1/m^2] of (l1 - l2)^2 / 4, as the authors have it
SINGLE_ROOT = 1e-8  # the same over the squares of the scales, where numbers have seven digits
SHIPPED = ("jersey",)
_LINE, _SURFACE = ("t", "p", "m"), ("tu", "tv", "p", "mu", "mv", "muv")


class YarnCloth:
    """A cloth whose energy per area is a spline of six strains: stretch along warp and weft, shear, and bending.

    source: a JSON file in the format of Sperl et al., or the name of a material that Pliant ships: "jersey".
        `from_document` takes what such a file holds.
    `source` is then where it was read from, None if it was not.
    Give it to scene.add_cloth. Units are SI: densities in kg/m^2, energies in J/m^2, curvatures in 1/m.
    """

    source: str | None = None

    def __init__(self, source: str | Path):
        self._fill(*_read(source))
        self.source = self.name if source in SHIPPED else str(Path(source).resolve())

    @classmethod
    def from_document(cls, document: dict[str, Any], name: str = "YarnCloth") -> Self:
        """document: named numbers, as a JSON file holds them; name: for messages."""
        made = cls.__new__(cls)
        made._fill(document, name)
        return made

    def _fill(self, document: dict[str, Any], name: str) -> None:
        self.document, self.name = document, name
        self.density = _positive(document, "density", self.name)
        scales = _numbers(document.get("strain scale"), f"{self.name}: strain scale")
        if scales.shape != (STRAINS,) or (scales <= 0).any():
            raise MaterialError(f"{self.name}: strain scale is {scales.tolist()}: give five positive numbers.")
        self.scales = scales
        self._table = _table(document, self.scales, self.name)

    def __repr__(self) -> str:
        return f"YarnCloth({self.name!r})"

    @cached_property
    def digest(self) -> str:
        """The same for materials of the same numbers."""
        table = self._table
        return hashlib.sha256(table.numbers.tobytes() + table.rows.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, YarnCloth) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        return YarnCloth.from_document, (self.document, self.name)

    @classmethod
    def example(cls) -> Self:
        """A knitted fabric of our own making, much like a T-shirt's jersey: soft, softer across than along its
        columns, and free edges curl.
        """
        return cls("jersey")

    def table(self, dtype: Any = np.float64) -> SplineTable:
        """All splines, as compiled code reads them; dtype: np.float32 or np.float64."""
        numbers, rows = (aligned(array, dtype) for array in self._table)
        if np.dtype(dtype) == np.float32:
            numbers[-1] = SINGLE_ROOT * self.scales[3] * self.scales[4]
        return SplineTable(numbers, rows)

    def energy_density(self, strains: ArrayLike) -> np.ndarray:
        """psi (m,) [J/m^2] of strains (m, 6): s_x - 1, s_a, s_y - 1, II_xx, II_xy, II_yy."""
        return np.asarray(yarn_density(self._table, _columns(strains)))

    def derivatives(self, strains: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Gradients (m, 6) and Hessians (m, 6, 6) of psi; strains: (m, 6) as of energy_density."""
        columns = _columns(strains)
        gradient, upper = yarn_derivatives(self._table, columns)
        hessians = np.empty((len(columns[0]), 6, 6))
        rows, others = np.triu_indices(6)
        hessians[:, rows, others] = hessians[:, others, rows] = np.stack(upper, axis=1)
        return np.stack(gradient, axis=1), hessians

    @cached_property
    def rest_moduli(self) -> tuple[float, float, float]:
        """Lame's lam and mu [N/m] and the bending stiffness [N m] that come nearest to it at rest, for damping."""
        _, hessian = self.derivatives(np.zeros((1, 6)))
        d = np.maximum(np.diag(hessian[0]), 0.0)
        mu = float(d[1])
        return max(float(0.5 * (d[0] + d[2]) - 2 * mu), 0.0), mu, float(0.5 * (d[3] + d[5]))


def _columns(strains: ArrayLike) -> tuple[np.ndarray, ...]:
    array = np.asarray(strains, dtype=float)
    if array.ndim != 2 or array.shape[1] != 6:
        raise MaterialError(f"YarnCloth: strains have shape {array.shape}; give (m, 6).")
    return tuple(array.T)


def _read(source: str | Path) -> tuple[dict[str, Any], str]:
    """The document, and what to call it in messages."""
    if not isinstance(source, str | Path):
        raise MaterialError(f"YarnCloth: {type(source).__name__} is not a path; see YarnCloth.from_document.")
    if isinstance(source, str) and source in SHIPPED:
        text = resources.files("pliant.materials").joinpath(f"{source}.json").read_text()
        return json.loads(text), source
    path = Path(source)
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        raise FileError(
            f"{path}: the yarn cloth cannot be read ({error.strerror or error}). Give a JSON file, or the name of a "
            f"material that is shipped: {', '.join(SHIPPED)}."
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: this is not a JSON file of a yarn cloth ({error}).") from None
    if not isinstance(document, dict):
        raise FileError(f"{path}: this is not a yarn cloth: it holds a {type(document).__name__}, not named numbers.")
    return document, path.name


def _table(document: dict[str, Any], scales: np.ndarray, name: str) -> SplineTable:
    coefficients = document.get("coeffs")
    if not isinstance(coefficients, dict):
        raise MaterialError(f"{name}: the key coeffs is missing: it holds const, 1D and 2D.")
    lines = [_line(coefficients, k, name) for k in range(STRAINS)]
    surfaces = _surfaces(coefficients, name)
    axes = [_axis(k, lines, surfaces, name) for k in range(STRAINS)]
    writer = TableWriter()
    for axis in axes:
        writer.add_axis(axis)
    functions = [_function(pair, surfaces.get(pair), axes) for pair in PAIRS]
    for k, (own, (pair, variable)) in enumerate(zip(lines, LINES, strict=True)):
        own_axis = make_axis(own["t"], k > 2)
        line = on_axis(pieces(own_axis, own["p"], own["m"], own["ext"], k > 2), own_axis, axes[k])
        if variable == 0:
            functions[pair][:, :, 0, :] += line
        else:
            functions[pair][:, :, :, 0] += line[:, None]
    for function in functions:
        writer.add_function(function)
    constant = _numbers(coefficients.get("const"), f"{name}: const")
    if constant.shape != ():
        raise MaterialError(f"{name}: const has shape {constant.shape}; give one number [J/m^2].")
    writer.numbers += [float(constant), *(1 / scales).tolist(), LEAST_ROOT]
    return writer.table()


def _axis(k: int, lines: list[dict[str, Any]], surfaces: dict[tuple[int, int], dict[str, Any]], name: str) -> Axis:
    """With the knots of all terms of strain k."""
    own = [term[key] for pair, term in surfaces.items() for key, of in zip(("tu", "tv"), pair, strict=True) if of == k]
    knots = common_knots([lines[k]["t"], *own])
    _check_distances(knots, f"{name}: knots of all terms of strain {k}")
    return make_axis(knots, k > 2)


def _function(pair: tuple[int, int], own: dict[str, Any] | None, axes: list[Axis]) -> np.ndarray:
    """Coefficients of a 2D term, zero where the file has none."""
    u, v = (axes[k] for k in pair)
    if own is None:
        return np.zeros((len(v.centres), len(u.centres), 4, 4))
    own_axes = make_axis(own["tu"], False), make_axis(own["tv"], pair[1] > 2)
    hermite = (own["p"], own["mu"], own["mv"], own["muv"])
    return surface_on_axes(surface_pieces(own_axes, hermite, own["ext"], pair[1] > 2), own_axes, (u, v))


def _line(coefficients: dict[str, Any], k: int, name: str) -> dict[str, Any]:
    """Knots, values and slopes of strain k."""
    found = [term for term in _terms(coefficients, "1D", name) if term.get("k") == k]
    what = f"{name}: 1D term of strain {k}"
    if len(found) != 1:
        raise MaterialError(f"{what}: the file has {len(found)}; give one.")
    term = {key: _numbers(found[0].get(key), f"{what}: {key}") for key in _LINE}
    _check_knots(term["t"], f"{what}: knots t")
    for key in ("p", "m"):
        _check_size(term[key], len(term["t"]), f"{what}: {key}")
    return {**term, "ext": _beyond(found[0], what)}


def _surfaces(coefficients: dict[str, Any], name: str) -> dict[tuple[int, int], dict[str, Any]]:
    """Terms of the pairs that the file has."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for term in _terms(coefficients, "2D", name):
        pair = (term.get("k0"), term.get("k1"))
        if pair not in PAIRS or pair in found:
            raise MaterialError(f"{name}: 2D term of strains {pair} is unknown or given twice; pairs are {PAIRS}.")
        found[pair] = _surface(term, f"{name}: 2D term of strains {pair}")
    return found


def _surface(term: dict[str, Any], what: str) -> dict[str, Any]:
    own: dict[str, Any] = {key: _numbers(term.get(key), f"{what}: {key}") for key in _SURFACE}
    for key in ("tu", "tv"):
        _check_knots(own[key], f"{what}: knots {key}")
    shape = (len(own["tv"]), len(own["tu"]))
    for key in ("p", "mu", "mv", "muv"):
        _check_size(own[key], shape[0] * shape[1], f"{what}: {key}")
        own[key] = own[key].reshape(shape)
    return {**own, "ext": _beyond(term, what)}


def _terms(coefficients: dict[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    terms = coefficients.get(key)
    if not isinstance(terms, list) or not all(isinstance(term, dict) for term in terms):
        raise MaterialError(f"{name}: coeffs has no list of terms {key}.")
    return terms


def _check_knots(knots: np.ndarray, what: str) -> None:
    if knots.ndim != 1 or len(knots) < 2:
        raise MaterialError(f"{what} have shape {knots.shape}; give at least two.")
    falling = np.flatnonzero(np.diff(knots) <= 0)
    if falling.size:
        k = int(falling[0])
        raise MaterialError(f"{what} must ascend, but knot {k + 1} is {knots[k + 1]:g} after {knots[k]:g}: sort them.")
    _check_distances(knots, what)


def _check_distances(knots: np.ndarray, what: str) -> None:
    if bucket_count(knots) > splines.MOST_BUCKETS:
        k = int(np.argmin(np.diff(knots)))
        raise MaterialError(f"{what}: knots {k} and {k + 1} are only {np.diff(knots)[k]:.3g} apart; leave one out.")


def _check_size(values: np.ndarray, count: int, what: str) -> None:
    if values.shape != (count,):
        raise MaterialError(f"{what} has shape {values.shape}, but the knots ask for {count} numbers.")


def _beyond(term: dict[str, Any], what: str) -> int:
    beyond = term.get("ext", splines.LINEAR)
    if beyond not in (splines.LINEAR, splines.CONSTANT, splines.ZERO):
        raise MaterialError(f"{what}: ext is {beyond!r}; give 0 (linear), 1 (constant) or 2 (zero).")
    return int(beyond)


def _positive(document: dict[str, Any], key: str, name: str) -> float:
    value = document.get(key)
    if not (is_finite_number(value) and value > 0):
        raise MaterialError(f"{name}: {key} is {value!r}: give a positive number.")
    return float(value)


def _numbers(value: Any, what: str) -> np.ndarray:
    if value is None:
        raise MaterialError(f"{what} is missing.")
    try:
        array = np.asarray(value, dtype=float)
    except NO_NUMBER:
        raise MaterialError(f"{what} holds no plain numbers.") from None
    if not np.isfinite(array).all():
        raise MaterialError(f"{what} has a number that is not finite.")
    return array
