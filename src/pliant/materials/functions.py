"""Functions a law may use beside arithmetic. They are symbolic; SymPy is loaded only when a law is differentiated."""

from __future__ import annotations


def log(a):
    import sympy

    return sympy.log(a)


def exp(a):
    import sympy

    return sympy.exp(a)


def sqrt(a):
    import sympy

    return sympy.sqrt(a)


def cube_root(a):
    import sympy

    return sympy.cbrt(a)
