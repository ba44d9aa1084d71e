"""The kernels that bring the states of elements up to date before an iteration."""

from __future__ import annotations

from pliant.device.lists import DeviceList, ListState


def state_functions(lists: tuple[DeviceList, ...]) -> list[str]:
    """A function and a kernel `update_state_K` for each list K whose elements have a state."""
    texts = []
    for k, one in enumerate(lists):
        if one.state is not None:
            call = f"update_K({', '.join(['state[t]', *_arguments(one.state)])})"
            texts.append("\n\n".join([one.state.function, _UPDATE.replace("<call>", call)]).replace("_K", f"_{k}"))
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
    state[t] = <call>;
}
""".strip("\n")
