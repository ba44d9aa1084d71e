"""From the one formula of a law to plain arithmetic: its derivatives as the text of Python functions.

The text uses only + - * /, `sqrt`, `log`, `exp` and `inverse_cube_root`, so that it runs on floats, lanes and NumPy
arrays.  It is kept on disk, because SymPy takes half a second to load and a law rarely changes.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

from pliant.errors import MaterialError
from pliant.lanes.cache import cached_text
from pliant.materials.law import SolidLaw
from pliant.materials.powers import arithmetic_printer, with_common_quotients

FUNCTIONS = ("sqrt", "log", "exp", "inverse_cube_root")
STRETCH_FUNCTIONS = ("trace_of_stretch", "inverse_slope")


@dataclass(frozen=True)
class LawCode:
    """A law as code. `text` defines, with p standing for the law's parameters:

    energy_density(I, II, J, *p)  energy density [J/m^3]
    derivatives(I, II, J, *p)   ((psi_I, psi_II, psi_J), (psi_I_I, psi_I_II, psi_I_J, psi_II_II, psi_II_J, psi_J_J)),
                                None where a derivative vanishes for all arguments
    and if `is_volumetric`, that is psi = psi_I (I - 3) + phi(J) with constant psi_I:
    shear_weight(*p)            2 psi_I
    volume_energy(J, *p)        phi(J)
    volume_derivatives(J, *p)   (phi'(J), phi''(J))
    """

    name: str
    text: str
    is_volumetric: bool
    has_barrier: bool  # infinite at J = 0

    @property
    def functions(self) -> Any:
        """The same functions for NumPy arrays."""
        return _numpy_functions(self.text)


_known: dict[type, LawCode] = {}


def law_code(law: type[SolidLaw]) -> LawCode:
    """Differentiate a law, or find the result of an earlier time."""
    if law not in _known:
        name = law.__name__
        header, text = cached_text(f"law_{name}", _key(law), partial(_generate, law)).split("\n", 1)
        _known[law] = LawCode(name, text, is_volumetric="volumetric" in header, has_barrier="barrier" in header)
    return _known[law]


@cache
def _numpy_functions(text: str) -> SimpleNamespace:
    from pliant import lanes
    from pliant.materials import stretch

    namespace: dict[str, Any] = {name: getattr(lanes, name) for name in FUNCTIONS}
    exec(text.removeprefix(_STRETCH_IMPORT), namespace)
    namespace.update({name: getattr(stretch, name) for name in STRETCH_FUNCTIONS})
    return SimpleNamespace(**namespace)


def _key(law: type[SolidLaw]) -> str:
    """What the generated text depends on beside this room's sources.

    A law of this room is known by its name. Any other is known by its formula, because its function may depend on
    anything; that takes SymPy, and is never stale.
    """
    if law.__module__.startswith("pliant.materials."):
        return law.__qualname__
    return f"{law.__qualname__} {law.parameter_names()} {_symbolic_density(law)[-1]!r}"


def _symbolic_density(law: type[SolidLaw]) -> tuple[Any, Any]:
    """Symbols of the invariants, and psi in them and in symbols named after the parameters."""
    import sympy as sp

    invariants = sp.symbols("I II J S" if uses_stretch(law) else "I II J", positive=True)
    return invariants, sp.sympify(law.energy_density(*invariants, *sp.symbols(law.parameter_names(), real=True)))


def uses_stretch(law: type[SolidLaw]) -> bool:
    """Whether the energy density has a fourth invariant S = tr S, the trace of the stretch."""
    return list(inspect.signature(law.energy_density).parameters)[3:4] == ["S"]


def _generate(law: type[SolidLaw]) -> str:
    import sympy as sp

    invariants, psi = _symbolic_density(law)
    derivative = _total_derivative(invariants) if uses_stretch(law) else sp.diff
    I, _, J = invariants[:3]
    first = [derivative(psi, k) for k in invariants[:3]]
    second = [derivative(first[i], b) for i in range(3) for b in invariants[i:3]]
    is_volumetric = first[1] == 0 and not (first[0].free_symbols & set(invariants))
    has_barrier = _ends_at_zero(psi, J)
    if psi.has(sp.I):
        raise MaterialError("the energy density of a law has a complex coefficient; it must be real.")

    arguments = ["I", "II", "J", *law.parameter_names()]
    prelude = _STRETCH_PRELUDE if uses_stretch(law) else []
    functions = [
        _function("energy_density", arguments, [psi], prelude=prelude[:1]),
        _function("derivatives", arguments, first + second, split_at=3, prelude=prelude),
    ]
    if is_volumetric:
        phi = psi.subs(I, 3)
        functions += [
            _function("shear_weight", arguments[3:], [2 * first[0]], zero=f"{arguments[3]} * 0.0"),
            _function("volume_energy", arguments[2:], [phi], zero="J * 0.0"),
            _function("volume_derivatives", arguments[2:], [sp.diff(phi, J), sp.diff(phi, J, 2)], zero="J * 0.0"),
        ]
    words = ["#", "volumetric" if is_volumetric else "general", *(["barrier"] if has_barrier else [])]
    return "\n".join([" ".join(words), *([_STRETCH_IMPORT] if uses_stretch(law) else []), *functions])


def _ends_at_zero(psi: Any, J: Any) -> bool:
    """Whether psi is infinite at J = 0 or has no value below: no solver may step across."""
    import sympy as sp

    has_root = any(J in power.base.free_symbols and not power.exp.is_integer for power in psi.atoms(sp.Pow))
    return has_root or psi.subs(J, 0).has(sp.zoo, sp.oo, sp.nan)


_STRETCH_IMPORT = "from pliant.materials.stretch import inverse_slope, trace_of_stretch\n"
_STRETCH_PRELUDE = ["S = trace_of_stretch(I, II, J)", "w = inverse_slope(I, II, J, S)"]


def _total_derivative(invariants):
    """Derivatives by I, II and J of expressions in which S stands for the root of p (see materials.stretch) and w for
    1 / p'(S)."""
    import sympy as sp

    I, II, J, S = invariants
    w = sp.Symbol("w", positive=True)
    p = S**4 - 2 * I * S**2 - 8 * J * S + 2 * II - I**2
    slope = sp.diff(p, S)

    def total(expression, k):
        dS = -sp.diff(p, k) * w
        dw = -(w**2) * (sp.diff(slope, k) + sp.diff(slope, S) * dS)
        return sp.diff(expression, k) + sp.diff(expression, S) * dS + sp.diff(expression, w) * dw

    return total


def _function(name, arguments, expressions, split_at=0, zero="None", prelude=()):
    """Text of a function that returns one expression or a tuple of them, common parts computed once.

    zero: what stands for an expression that vanishes for all arguments.  prelude: lines that come first.
    """
    import sympy as sp

    expressions, quotients = with_common_quotients(expressions)
    expressions = [sp.factor_terms(e) for e in expressions]
    common, reduced = sp.cse(expressions, symbols=sp.numbered_symbols("c"))
    taken = {*arguments, *(symbol.name for e in expressions for symbol in sp.sympify(e).free_symbols)}
    printer = arithmetic_printer(taken)
    for symbol, value in [*quotients, *common]:
        printer.assign(symbol.name, value)
    results = [zero if e == 0 else printer.doprint(e) for e in reduced]
    if split_at:
        returned = f"({', '.join(results[:split_at])}), ({', '.join(results[split_at:])})"
    else:
        returned = ", ".join(results)
    lines = [f"    {line}" for line in (*prelude, *printer.lines, f"return {returned}")]
    text = "\n".join([f"def {name}({', '.join(arguments)}):", *lines, ""])
    _check_arithmetic(text)
    return text


def _check_arithmetic(text: str) -> None:
    """Refuse what lanes do not have: any name that is neither an argument, a common part nor one of FUNCTIONS."""
    nodes = list(ast.walk(ast.parse(text)))
    known = {n.arg for n in nodes if isinstance(n, ast.arg)} | {*FUNCTIONS, *STRETCH_FUNCTIONS}
    known |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in known:
            raise MaterialError(
                f"a law uses {node.id}, which lanes do not have; use arithmetic, powers and {', '.join(FUNCTIONS)}."
            )
        if isinstance(node, (ast.IfExp, ast.Attribute, ast.Compare)):
            raise MaterialError(
                f"a law uses {ast.unparse(node)!r}; it must be one formula of arithmetic, powers and "
                f"{', '.join(FUNCTIONS)}, without cases."
            )
