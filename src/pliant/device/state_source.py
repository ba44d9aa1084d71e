"""The kernels that bring the states of elements up to date before an iteration."""

from __future__ import annotations

from pliant.device.lists import DeviceList, ListState


def state_functions(lists: tuple[DeviceList, ...]) -> list[str]:
    """A function and a kernel `update_state_K` for each list K whose elements have a state."""
    texts = []
    for k, one in enumerate(lists):
        if one.state is not None:
            kernel = _UPDATE if one.state.table is None else _DERIVE.replace("<size>", str(one.state.size))
            kernel = kernel.replace("<arguments>", ", ".join(_arguments(one.state)))
            texts.append("\n\n".join([one.state.function, kernel]).replace("_K", f"_{k}"))
    return texts


def _arguments(state: ListState) -> list[str]:
    texts = []
    for argument in state.arguments:
        kind, _, place = argument.partition(" ")
        if kind == "other":
            texts.append(f"relative(x[corners[{int(place) + 1} * elements + t]], origin)")
        elif kind == "vector":
            texts.append(f"VECTOR({', '.join(_number(int(place) + axis) for axis in range(3))})")
        else:
            texts.append(_number(int(place)))
    return texts


def _number(place: int) -> str:
    return f"constants[{place} * elements + t]"


_UPDATE = """
// Brings the state of elements up to date at x, before an iteration.
KERNEL void update_state_K(const int elements, GLOBAL const real4 *x, GLOBAL const int *corners,
    GLOBAL const real *constants, GLOBAL real *state)
{
    const int t = GLOBAL_ID;
    if (t >= elements)
        return;
    const real3 origin = position(x[corners[t]]);
    state[t] = update_K(state[t], <arguments>);
}
""".strip("\n")

_DERIVE = """
// Finds the numbers of elements that follow from x, before an iteration.
KERNEL void update_state_K(const int elements, GLOBAL const real4 *x, GLOBAL const int *corners,
    GLOBAL const real *constants, GLOBAL real *state, GLOBAL const real *table)
{
    const int t = GLOBAL_ID;
    if (t >= elements)
        return;
    const real3 origin = position(x[corners[t]]);
    update_K(state + <size> * t, table, <arguments>);
}
""".strip("\n")
