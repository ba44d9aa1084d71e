"""A CPU that is newer than the PoCL of its wheel.

The compiler in `pocl-binary-distribution` 3.0 (LLVM 14) knows CPUs of up to 2021. Others it calls "generic", a name
that it then refuses itself: no program compiles ("unknown target CPU 'generic'"). PoCL has no setting for the name,
and there is no newer wheel. So the name is replaced in PoCL's own record of the device, where it is exactly that one.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

#: Where PoCL 3.0, in its record of a device, has the addresses of the compiler's target and of the CPU's name [bytes].
TARGET, CPU = 632, 640
KNOWN = {TARGET: b"x86_64-unknown-linux-gnu\0", CPU: b"generic\0"}
VERSION = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-unknown-linux-gnu-generic"

#: Names that LLVM 14 knows, with what a CPU must have for them; the best first.
LEVELS = {"x86-64-v3": {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm"}, "x86-64": set[str]()}

_names: list[Any] = []  # PoCL reads them for as long as the process runs


def name_cpu(device: Any) -> None:
    """Give a device of PoCL 3.0 that it calls generic the name of the best level of instructions this CPU has."""
    if device.version.strip() != VERSION or device.driver_version.strip() != "3.0-rc2":
        return
    if any(_text_at(_address_at(device.int_ptr + place), len(text)) != text for place, text in KNOWN.items()):
        return
    flags = _flags()
    name = ctypes.create_string_buffer(next(level for level, needed in LEVELS.items() if needed <= flags).encode())
    _names.append(name)
    ctypes.c_uint64.from_address(device.int_ptr + CPU).value = ctypes.addressof(name)


def _flags() -> set[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line for line in lines if line.startswith("flags")), "").split())


def _address_at(place: int) -> int:
    return int.from_bytes(_text_at(place, 8), "little")


def _text_at(place: int, length: int) -> bytes:
    """Bytes of this process; none where there is no memory, which the system says instead of ending the process."""
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(place)
            return memory.read(length)
    except (OSError, OverflowError, ValueError):
        return b""
