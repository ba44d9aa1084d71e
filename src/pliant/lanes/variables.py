"""Which variables the statements of Numba's form of a text name: the same as Numba finds, with less asking.

Numba asks for them some twenty times per statement, and for each with up to five questions for the type of every part,
numbers and places in the source included.  What to do with a part is remembered here by its class.
"""

from __future__ import annotations

from typing import Any

from numba.core import analysis, ir

OTHER, VARIABLE, INSTRUCTION, SEQUENCE, TABLE = range(5)
_kinds: dict[type, int] = {}


def _kind_of(part: type) -> int:
    """Numba's questions, in its order."""
    classes = ((ir.Var, VARIABLE), (ir.Inst, INSTRUCTION), ((list, tuple), SEQUENCE), (dict, TABLE))
    return next((kind for known, kind in classes if issubclass(part, known)), OTHER)


def variables_in(self: ir.Inst, value: Any) -> list[ir.Var]:
    """In place of ir.Inst._rec_list_vars."""
    found: list[ir.Var] = []
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else (value,)
    for part in parts:
        kind = _kinds.get(type(part))
        if kind is None:
            kind = _kinds.setdefault(type(part), _kind_of(type(part)))
        if kind == VARIABLE:
            found.append(part)
        elif kind == INSTRUCTION:
            found += part.list_vars()
        elif kind != OTHER:
            found += variables_in(self, part)
    return found


def uses_and_definitions(blocks: dict[int, ir.Block]) -> Any:
    """In place of analysis.compute_use_defs: variables that each block reads from others, and those that it writes."""
    read: dict[int, set[str]] = {}
    written: dict[int, set[str]] = {}
    for place, block in blocks.items():
        reads = read[place] = set[str]()
        writes = written[place] = set[str]()
        for statement in block.body:
            of_others = analysis.ir_extension_usedefs.get(type(statement))
            if of_others is not None:
                of_others(statement, reads, writes)
                continue
            if isinstance(statement, ir.Assign):
                value = statement.value
                names = [value.name] if isinstance(value, ir.Var) else _names(value)
                if statement.target.name not in names:
                    writes.add(statement.target.name)
                names.append(statement.target.name)
            else:
                names = _names(statement)
            reads.update(name for name in names if name not in writes)
    return analysis._use_defs_result(usemap=read, defmap=written)


def _names(part: Any) -> list[str]:
    return [variable.name for variable in part.list_vars()] if isinstance(part, ir.Inst) else []
