"""Powers, quotients and roots in the text of a law: each division and each root once, each power from shorter ones.

Numbers in lanes have no power operator, and a division or a root costs as much as ten products.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from pliant.errors import MaterialError

LARGEST_POWER = 32  # whole powers are written out as products


def with_common_quotients(expressions):
    """Expressions in which every power is a whole positive one, and what they are powers of.

    a^(-n) is a power of 1/a;  a^(n/2) of sqrt(a) or its inverse;  J^(-2/3), J^(-5/3) and then J^(-2) too are powers of
    J^(-1/3).  Returns the expressions and pairs (symbol, its value) in the order to compute them.
    """
    import sympy as sp

    taken = {symbol.name for e in expressions for symbol in sp.sympify(e).free_symbols}
    named: dict[tuple[Any, Any], Any] = {}

    def symbol(kind, base, exponent):
        """The symbol of base^exponent."""
        if (base, exponent) not in named:
            names = (f"{kind}{n}" for n in count())
            used = taken | {s.name for s in named.values()}
            named[base, exponent] = sp.Symbol(next(n for n in names if n not in used), positive=True)
        return named[base, exponent]

    def roots(e):
        base, exponent = e.as_base_exp()
        if exponent.q == 2:
            return symbol("root", base, sp.Rational(1, 2)) ** exponent.p
        return symbol("root", base, sp.Rational(-1, exponent.q)) ** -exponent.p

    def inverses(e):
        base, exponent = e.as_base_exp()
        for (other, power), root in list(named.items()):
            if other == base and power.is_negative and power != -1:
                return root ** (exponent / power)  # 1/J is the cube of J^(-1/3)
        return symbol("inverse", base, sp.Integer(-1)) ** -exponent

    expressions = [sp.sympify(e) for e in expressions]
    is_root = lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer  # noqa: E731
    expressions = [e.replace(is_root, roots) for e in expressions]
    is_inverse = lambda e: e.is_Pow and e.exp.is_Integer and e.exp.is_negative  # noqa: E731
    expressions = [e.replace(is_inverse, inverses) for e in expressions]
    return expressions, [(s, sp.Pow(base, power, evaluate=False)) for (base, power), s in named.items()]


def arithmetic_printer(taken: set[str]) -> Any:
    """A printer of expressions as plain arithmetic; `lines` collects what they need, under names that are not taken."""
    import sympy as sp
    from sympy.printing.pycode import PythonCodePrinter

    names = (name for name in (f"power{n}" for n in count()) if name not in taken)

    class ArithmeticPrinter(PythonCodePrinter):
        """Powers as products, quotients, roots or exp(n log x)."""

        def __init__(self):
            super().__init__({"fully_qualified_modules": False})
            self.lines: list[str] = []
            self.powers: dict[tuple[str, int], str] = {}

        def assign(self, name, value):
            text = self.doprint(value)
            self.lines.append(f"{name} = {text}")

        def _named(self, text):
            name = next(names)
            self.lines.append(f"{name} = {text}")
            return name

        def _common(self, text):
            """The name of a part that is computed once."""
            if (text, 1) not in self.powers:
                self.powers[text, 1] = self._named(text)
            return self.powers[text, 1]

        def _whole_power(self, base, n):
            """base^n from its halves, each computed once."""
            if n == 1:
                return base
            if (base, n) not in self.powers:
                half, rest = self._whole_power(base, n // 2), self._whole_power(base, n - n // 2)
                self.powers[base, n] = self._named(f"{half}*{rest}")
            return self.powers[base, n]

        def _print_Pow(self, expr, rational=False):
            base, exponent = expr.as_base_exp()
            printed = self._print(base)
            if exponent.is_Integer:
                if abs(exponent) > LARGEST_POWER:
                    raise MaterialError(f"a law uses the power {expr}; whole powers go up to {LARGEST_POWER}.")
                if exponent < 0:
                    return f"(1/{self._whole_power(f'({printed})', -int(exponent))})"
                return self._whole_power(printed if base.is_Symbol else self._common(printed), int(exponent))
            if exponent == sp.Rational(1, 2):
                return f"sqrt({printed})"
            if exponent == sp.Rational(-1, 3):
                return f"inverse_cube_root({printed})"
            return f"exp({self._print(exponent)}*log({printed}))"

        def _print_Rational(self, expr):
            return repr(float(expr))

        def _print_log(self, expr):
            return f"log({self._print(expr.args[0])})"

        def _print_exp(self, expr):
            return f"exp({self._print(expr.args[0])})"

    return ArithmeticPrinter()
