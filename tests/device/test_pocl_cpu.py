"""The name of a CPU that PoCL 3.0 does not know."""

import ctypes
from types import SimpleNamespace

import pytest

from pliant.device import pocl_cpu


class _Record:
    """Stands for PoCL's record of a device: a block of memory with addresses of texts."""

    def __init__(self, cpu=b"generic", version=pocl_cpu.VERSION, driver="3.0-rc2"):
        self.memory = (ctypes.c_uint64 * 128)()
        self.texts = {
            pocl_cpu.TARGET: ctypes.create_string_buffer(b"x86_64-unknown-linux-gnu"),
            pocl_cpu.CPU: ctypes.create_string_buffer(cpu),
        }
        for place, text in self.texts.items():
            self.memory[place // 8] = ctypes.addressof(text)
        self.device = SimpleNamespace(version=version, driver_version=driver, int_ptr=ctypes.addressof(self.memory))

    def cpu(self) -> bytes:
        return ctypes.string_at(self.memory[pocl_cpu.CPU // 8])


@pytest.mark.parametrize(
    ("flags", "name"),
    [(set(), b"x86-64"), ({"avx2"}, b"x86-64"), (pocl_cpu.LEVELS["x86-64-v3"] | {"avx512f"}, b"x86-64-v3")],
)
def test_a_generic_cpu_gets_the_level_it_has(monkeypatch, flags, name):
    monkeypatch.setattr(pocl_cpu, "_flags", lambda: flags)
    record = _Record()
    before = list(record.memory)
    pocl_cpu.name_cpu(record.device)
    assert record.cpu() == name
    changed = [8 * k for k, (old, new) in enumerate(zip(before, record.memory, strict=True)) if old != new]
    assert changed == [pocl_cpu.CPU]


@pytest.mark.parametrize(
    "record",
    [
        _Record(cpu=b"znver3", version=pocl_cpu.VERSION.replace("generic", "znver3")),
        _Record(cpu=b"znver3"),
        _Record(version="OpenCL 3.0 PoCL 5.0"),
        _Record(driver="3.1"),
    ],
)
def test_other_devices_keep_their_name(record):
    before = list(record.memory)
    pocl_cpu.name_cpu(record.device)
    assert list(record.memory) == before


@pytest.mark.parametrize("address", [0, 8, 2**63, 2**64 - 1])
def test_an_address_without_memory_is_left_alone(address):
    record = _Record()
    record.memory[pocl_cpu.CPU // 8] = address
    pocl_cpu.name_cpu(record.device)
    assert record.memory[pocl_cpu.CPU // 8] == address
