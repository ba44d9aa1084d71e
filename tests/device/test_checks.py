"""What can be checked of kernels without a card: races and bounds in oclgrind, registers and spills by ptxas."""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import pliant as pl
from pliant.materials import SOLID_LAWS


def tool(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


needs_oclgrind = pytest.mark.skipif(shutil.which("oclgrind") is None, reason="oclgrind is not installed")


@needs_oclgrind
@pytest.mark.slow
@pytest.mark.parametrize("name", ["solid", "sheets", "converted", "contact", "corrections", "grains"])
def test_no_race_and_no_read_out_of_bounds(name) -> None:
    assert [line for line in tool("check_device").reports_of(name) if line.strip()] == []


@needs_oclgrind
@pytest.mark.slow
def test_a_planted_race_is_found() -> None:
    """Sums of a work-group without barriers."""
    lines = tool("check_device").reports_of("solid", "--plant")
    assert any("data race" in line and "local" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("law", SOLID_LAWS.values(), ids=SOLID_LAWS)
def test_no_kernel_of_a_solid_law_spills_registers(law) -> None:
    registers = tool("device_registers")
    if not registers.is_available():
        pytest.skip("NVRTC and ptxas are not installed")
    for solver, kernels in registers.KERNELS.items():
        ptx = registers.to_ptx(registers.cuda_source(law, solver))
        for card in registers.CARDS:
            needs = registers.needs_of(ptx, card)
            assert set(kernels) <= set(needs)
            for kernel in kernels:
                assert needs[kernel].spilled == 0
                assert needs[kernel].registers <= (96 if isinstance(solver, pl.VBD) else 168)


@pytest.mark.slow
def test_no_kernel_of_converted_tets_contacts_and_yarn_cloth_spills_registers() -> None:
    registers = tool("device_registers")
    if not registers.is_available():
        pytest.skip("NVRTC and ptxas are not installed")
    for source in registers.FURTHER.values():
        ptx = registers.to_ptx(source())
        for card in registers.CARDS:
            assert all(need.spilled == 0 for need in registers.needs_of(ptx, card).values())


@pytest.mark.slow
def test_no_kernel_of_grains_spills_registers() -> None:
    registers = tool("device_registers")
    if not registers.is_available():
        pytest.skip("NVRTC and ptxas are not installed")
    ptx = registers.to_ptx(registers.grains_source())
    for card in registers.CARDS:
        needs = registers.needs_of(ptx, card)
        assert all(needs[kernel].spilled == 0 for kernel in ("relax", "gather"))
        assert all(needs[kernel].registers <= 64 for kernel in ("relax", "gather"))
