"""Cholesky's factors of small symmetric matrices that may be singular, written out as plain arithmetic for lanes.

A symmetric matrix is the tuple of its upper triangle, row by row; a lower triangular one is L_00, L_10, L_11, L_20, ...
"""

from __future__ import annotations

from pliant.kernels.elimination import place

VANISHED = 64  # times the machine epsilon, of a diagonal entry: a pivot that is no larger is rounding


def factor_source(n: int) -> str:
    """Physics functions for n unknowns:

    cholesky_n(M)        L with L L^T = M, and the inverses of its diagonal; where a pivot vanishes, zero
    forward_n(L, i, v)   y with L y = v, zero where a pivot vanishes; i: the inverses
    backward_n(L, i, y)  v with L^T v = y, the same
    times_n(L, v)        L^T v
    congruent_n(L, H)    L^T H L
    """
    return "\n\n".join([_cholesky(n), _forward(n), _backward(n), _times(n), _congruent(n)])


def _lower(i: int, j: int) -> int:
    return i * (i + 1) // 2 + j


def _cholesky(n: int) -> str:
    lines = ["none = number(0.0, M[0])", f"part = {VANISHED} * rounding(M[0])"]
    for j in range(n):
        squares = "".join(f" - l{j}{k} * l{j}{k}" for k in range(j))
        lines += [
            f"pivot = M[{place(n, j, j)}]{squares}",
            f"there = pivot > part * M[{place(n, j, j)}]",
            f"l{j}{j} = sqrt(select(there, pivot, none))",
            f"i{j} = select(there, 1.0 / select(there, l{j}{j}, number(1.0, none)), none)",
        ]
        for i in range(j + 1, n):
            known = "".join(f" - l{i}{k} * l{j}{k}" for k in range(j))
            lines += [f"l{i}{j} = (M[{place(n, j, i)}]{known}) * i{j}"]
    factor = ", ".join(f"l{i}{j}" for i in range(n) for j in range(i + 1))
    return _function(f"cholesky_{n}(M)", lines, f"({factor}), ({', '.join(f'i{k}' for k in range(n))})")


def _forward(n: int) -> str:
    lines = []
    for k in range(n):
        known = "".join(f" - L[{_lower(k, j)}] * y{j}" for j in range(k))
        lines += [f"y{k} = (v[{k}]{known}) * i[{k}]"]
    return _function(f"forward_{n}(L, i, v)", lines, _tuple("y", n))


def _backward(n: int) -> str:
    lines = []
    for k in reversed(range(n)):
        known = "".join(f" - L[{_lower(j, k)}] * v{j}" for j in range(k + 1, n))
        lines += [f"v{k} = (y[{k}]{known}) * i[{k}]"]
    return _function(f"backward_{n}(L, i, y)", lines, _tuple("v", n))


def _times(n: int) -> str:
    sums = [" + ".join(f"L[{_lower(j, k)}] * v[{j}]" for j in range(k, n)) for k in range(n)]
    return _function(f"times_{n}(L, v)", [f"y{k} = {total}" for k, total in enumerate(sums)], _tuple("y", n))


def _congruent(n: int) -> str:
    lines = []
    for k in range(n):
        for j in range(n):
            total = " + ".join(f"H[{place(n, k, m)}] * L[{_lower(m, j)}]" for m in range(j, n))
            lines += [f"t{k}{j} = {total}"]
    entries = [" + ".join(f"L[{_lower(k, i)}] * t{k}{j}" for k in range(i, n)) for i in range(n) for j in range(i, n)]
    return _function(f"congruent_{n}(L, H)", lines, f"({', '.join(entries)})")


def _tuple(name: str, n: int) -> str:
    return f"({', '.join(f'{name}{k}' for k in range(n))})"


def _function(head: str, lines: list[str], result: str) -> str:
    return "\n".join(["@physics", f"def {head}:", *(f"    {line}" for line in lines), f"    return {result}"])
