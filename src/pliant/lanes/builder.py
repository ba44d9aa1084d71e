"""LLVM code with what is plain to see left out: parts of a tuple that has just been made, numbers plus zero, and
whatever nobody uses.

Numba writes `a[i, 0]` as thirty instructions, twenty of which put numbers into tuples and take them out again, or are
never used.  LLVM finds that out, too, but reading and cleaning such text was half of its time.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir
from numba.core import cgutils

# Instructions that do nothing but give a value.
PURE = {"extractvalue", "insertvalue", "getelementptr", "bitcast", "inttoptr", "ptrtoint", "load", "alloca", "select"}
PURE |= {"add", "sub", "mul", "and", "or", "xor", "shl", "ashr", "lshr", "icmp", "fcmp", "sext", "zext", "trunc"}
PURE |= {"fadd", "fsub", "fmul", "fdiv", "fneg", "sitofp", "uitofp", "fptosi", "fpext", "fptrunc"}
PURE |= {"extractelement", "insertelement", "shufflevector"}
COMPARISONS: dict[str, Any] = {
    "==": int.__eq__,
    "!=": int.__ne__,
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}


class FoldingBuilder(ir.IRBuilder):
    """An IRBuilder that writes no instruction whose result is known already."""

    def __init__(self, block: ir.Block, is_counting: bool):
        super().__init__(block)
        self.is_counting = is_counting  # references to arrays (lanes.counting): places on the stack begin empty
        self._taken: dict[tuple, tuple[ir.Value, ir.Value]] = {}  # parts of values, by block

    def extract_value(self, agg: ir.Value, idx: Any, name: str = "") -> ir.Value:
        agg, indices = source(agg, tuple(idx) if isinstance(idx, tuple | list) else (idx,))
        if not indices:
            return agg
        key = (id(self.block), id(agg), indices)
        if key not in self._taken:
            self._taken[key] = agg, super().extract_value(agg, indices, name)
        return self._taken[key][1]

    def add(self, lhs: ir.Value, rhs: ir.Value, name: str = "", flags: Any = ()) -> ir.Value:
        if is_number(lhs, 0) and lhs.type == rhs.type:
            return rhs
        if is_number(rhs, 0) and lhs.type == rhs.type:
            return lhs
        return super().add(lhs, rhs, name, flags)

    def mul(self, lhs: ir.Value, rhs: ir.Value, name: str = "", flags: Any = ()) -> ir.Value:
        if is_number(lhs, 1) and lhs.type == rhs.type:
            return rhs
        if is_number(rhs, 1) and lhs.type == rhs.type:
            return lhs
        return super().mul(lhs, rhs, name, flags)

    def icmp_signed(self, cmpop: str, lhs: ir.Value, rhs: ir.Value, name: str = "") -> ir.Value:
        if is_number(lhs) and is_number(rhs) and lhs.type == rhs.type and lhs.type.width > 1:
            return ir.Constant(ir.IntType(1), int(COMPARISONS[cmpop](int(lhs.constant), int(rhs.constant))))
        return super().icmp_signed(cmpop, lhs, rhs, name)

    def select(self, cond: ir.Value, lhs: ir.Value, rhs: ir.Value, name: str = "", flags: Any = ()) -> ir.Value:
        if is_number(cond) and lhs.type == rhs.type:
            return lhs if cond.constant else rhs
        return super().select(cond, lhs, rhs, name, flags)


def place_on_stack(
    builder: ir.IRBuilder, ty: ir.Type, size: Any = None, name: str = "", zfill: bool = False
) -> ir.Value:
    """In place of cgutils.alloca_once, which fills every place with zeros when the function begins: a variable whose
    references are counted has to begin as nothing, others are written before they are read.
    """
    if not isinstance(builder, FoldingBuilder) or builder.is_counting:
        return _numbas_place(builder, ty, size, name, zfill)
    with builder.goto_entry_block():
        place = builder.alloca(ty, size, name)
    if zfill:
        builder.store(ir.Constant(ty, None), place)
    return place


_numbas_place = cgutils.alloca_once


def is_number(value: ir.Value, number: int | None = None) -> bool:
    """Whether a value is a whole number that is known; this one, if one is given."""
    if type(value) is not ir.Constant or type(value.type) is not ir.IntType or not isinstance(value.constant, int):
        return False
    return number is None or value.constant == number


def source(whole: ir.Value, indices: tuple[int, ...]) -> tuple[ir.Value, tuple[int, ...]]:
    """Where a part of a value comes from: another value, and the indices within it; none if it is all of that value."""
    while indices:
        if isinstance(whole, ir.InsertValue):
            written = tuple(whole.indices)
            common = min(len(written), len(indices))
            if written[:common] != indices[:common]:
                whole = whole.aggregate
            elif len(written) <= len(indices):
                whole, indices = whole.value, indices[len(written) :]
            else:
                break
        elif isinstance(whole, ir.ExtractValue):
            whole, indices = whole.aggregate, (*whole.indices, *indices)
        else:
            break
    return whole, indices


def drop_unused(function: ir.Function) -> None:
    """Take out all instructions that do nothing but give a value that nobody uses."""
    uses: Counter[int] = Counter()
    for block in function.blocks:
        for instruction in block.instructions:
            uses.update(map(id, operands(instruction)))
    idle = [
        part for block in function.blocks for part in block.instructions if part.opname in PURE and not uses[id(part)]
    ]
    dropped = set()
    while idle:
        instruction = idle.pop()
        dropped.add(id(instruction))
        for operand in operands(instruction):
            uses[id(operand)] -= 1
            if not uses[id(operand)] and isinstance(operand, ir.Instruction) and operand.opname in PURE:
                idle.append(operand)
    if dropped:
        for block in function.blocks:
            block.instructions[:] = [part for part in block.instructions if id(part) not in dropped]


def operands(instruction: ir.Instruction) -> Any:
    if isinstance(instruction, ir.PhiInstr):
        return [value for value, _ in instruction.incomings]
    return instruction.operands
