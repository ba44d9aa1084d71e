"""Small symmetric systems of any fixed size, written out as plain arithmetic for lanes.

A symmetric matrix is the tuple of its upper triangle, row by row.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

from pliant import lanes

SINGULAR = 2e-7  # of a diagonal entry: a pivot that is no larger is rounding in single precision


def place(n: int, i: int, j: int) -> int:
    """Where entry (i, j) of a symmetric n x n matrix stands in its tuple."""
    i, j = min(i, j), max(i, j)
    return i * n - i * (i - 1) // 2 + j - i


def elimination_source(n: int) -> str:
    """Physics functions for n unknowns:

    solve_n(H, f)            x with H x = f by H = L D L^T, and where a pivot is not positive (or is rounding):
                             H is not positive definite there
    add_outer_n(H, s, a)     H + s a a^T
    add_diagonal_n(H, s)     H + s Identity
    least_eigenvalue_n(H)    a lower bound by Gershgorin's circles (GPBD, Equation 23)
    """
    return "\n\n".join([_solve(n), _add_outer(n), _add_diagonal(n), _least_eigenvalue(n)])


@cache
def elimination_functions(n: int) -> SimpleNamespace:
    """The same functions for Python, without n in their names."""
    namespace = {name: vars(lanes)[name] for name in ("absolute", "minimum", "reciprocal")}
    exec(elimination_source(n).replace("@physics\n", ""), namespace)
    return SimpleNamespace(**{name.removesuffix(f"_{n}"): own for name, own in namespace.items()})


def _solve(n: int) -> str:
    lines = [f"h{i}{j} = H[{place(n, i, j)}]" for i in range(n) for j in range(i, n)]
    lines += [f"f{i} = f[{i}]" for i in range(n)]
    for k in range(n):
        lines += [f"excess{k} = h{k}{k} - {SINGULAR!r} * H[{place(n, k, k)}]", f"inverse{k} = reciprocal(h{k}{k})"]
        for i in range(k + 1, n):
            lines += [f"l = h{k}{i} * inverse{k}"]
            lines += [f"h{i}{j} = h{i}{j} - l * h{k}{j}" for j in range(i, n)]
            lines += [f"f{i} = f{i} - l * f{k}"]
    for k in reversed(range(n)):
        known = "".join(f" - h{k}{j} * x{j}" for j in range(k + 1, n))
        lines += [f"x{k} = (f{k}{known}) * inverse{k}"]
    lines += [f"excess0 = minimum(excess{k}, excess0)" for k in range(1, n)]
    result = ", ".join(f"x{k}" for k in range(n))
    return _function(f"solve_{n}(H, f)", lines, f"({result},), excess0 <= 0.0")


def _add_outer(n: int) -> str:
    entries = [f"H[{place(n, i, j)}] + s{i} * a[{j}]" for i in range(n) for j in range(i, n)]
    return _function(f"add_outer_{n}(H, s, a)", [f"s{i} = s * a[{i}]" for i in range(n)], f"({', '.join(entries)},)")


def _add_diagonal(n: int) -> str:
    entries = [f"H[{place(n, i, j)}]{' + s' if i == j else ''}" for i in range(n) for j in range(i, n)]
    return _function(f"add_diagonal_{n}(H, s)", [], f"({', '.join(entries)},)")


def _least_eigenvalue(n: int) -> str:
    lines = []
    for i in range(n):
        others = "".join(f" - absolute(H[{place(n, i, j)}])" for j in range(n) if j != i)
        lines += [f"row{i} = H[{place(n, i, i)}]{others}"]
    lines += [f"row0 = minimum(row0, row{i})" for i in range(1, n)]
    return _function(f"least_eigenvalue_{n}(H)", lines, "row0")


def _function(head: str, lines: list[str], result: str) -> str:
    return "\n".join(["@physics", f"def {head}:", *(f"    {line}" for line in lines), f"    return {result}"])
