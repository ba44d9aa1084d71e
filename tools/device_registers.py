"""Registers, spills and local memory of every solid law's kernels on NVIDIA cards, without a card.

The kernels' C text compiles as CUDA C by the names of device/prelude.py: NVRTC makes PTX of it, ptxas machine code for
sm_80, sm_89 and sm_90, and says what each kernel needs.

    pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvcc-cu12
    python tools/device_registers.py          # a table as in docs/device.md
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pliant as pl
from pliant.errors import PliantError
from pliant.materials import SOLID_LAWS
from pliant.model import build_model
from pliant.solvers import Solver
from pliant.solvers.machinery.device_work import kernel_source

CARDS = ("sm_80", "sm_89", "sm_90")
#: Solvers whose kernels are looked at, with the kernels that do the work.
KERNELS: dict[Solver[Any], tuple[str, ...]] = {
    pl.VBD(): ("solve_groups", "solve_packed", "solve_items"),
    pl.GPBD(mode="jacobi"): ("correct_all_0",),
}


class Needs(NamedTuple):
    """What one kernel needs on one card."""

    registers: int
    spilled: int  # bytes of registers stored to memory
    shared: int  # bytes of local memory of a work-group


def _folder(package: str) -> Path:
    spec = find_spec("nvidia")
    for place in spec.submodule_search_locations or [] if spec is not None else []:
        if (Path(place) / package).is_dir():
            return Path(place) / package
    raise PliantError("pip install nvidia-cuda-nvrtc-cu12 nvidia-cuda-nvcc-cu12: without them there is no ptxas.")


def is_available() -> bool:
    """Whether NVRTC and ptxas are installed."""
    try:
        return all(_folder(package).is_dir() for package in ("cuda_nvrtc", "cuda_nvcc"))
    except PliantError:
        return False


def to_ptx(source: str, architecture: str = "compute_80") -> bytes:
    """CUDA C as PTX."""
    nvrtc = ctypes.CDLL(str(_folder("cuda_nvrtc") / "lib" / "libnvrtc.so.12"))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
    failed = nvrtc.nvrtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise PliantError(f"the kernels are no CUDA C: {log.value.decode()[:3000]}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    return text.value


def needs_of(ptx: bytes, card: str) -> dict[str, Needs]:
    """What the kernels need on a card, by name."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.ptx"
        source.write_bytes(ptx)
        command = [str(_folder("cuda_nvcc") / "bin" / "ptxas"), "-v", f"-arch={card}", str(source), "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found, name, spilled = {}, "", 0
    for line in (done.stdout + done.stderr).splitlines():
        if started := re.search(r"Compiling entry function '(\w+)'", line):
            name = started.group(1)
        elif stored := re.search(r"(\d+) bytes spill stores", line):
            spilled = int(stored.group(1))
        elif used := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            found[name] = Needs(int(used.group(1)), spilled, int(shared.group(1)) if shared else 0)
    return found


def solid_source(material: Any, solver: Solver[Any], contact: bool = False, **options: Any) -> str:
    """The kernels of a solid, as CUDA C."""
    scene = pl.Scene()
    scene.contact = pl.Contact() if contact else None
    scene.add_solid(pl.shapes.box((0.1, 0.1, 0.1), (1, 1, 1)), material, **options)
    return kernel_source(solver, build_model(scene), 1e-3, language="cuda")


def cuda_source(law: type, solver: Solver[Any]) -> str:
    """The kernels of a solid of a law, as CUDA C."""
    return solid_source(law.from_young(1e5, 0.0 if law is pl.ARAP else 0.3), solver)


def yarn_source() -> str:
    """The kernels of yarn cloth, as CUDA C."""
    scene = pl.Scene()
    scene.add_cloth(pl.shapes.cloth((0.1, 0.1), (1, 1)), pl.YarnCloth.example())
    return kernel_source(pl.VBD(), build_model(scene), 1e-3, language="cuda")


def grains_source() -> str:
    """The kernels of particles, as CUDA C."""
    scene = pl.Scene()
    scene.add_particles([(0, 0, 0)], 0.1)
    return kernel_source(pl.VelocityTimeStepping(), build_model(scene), 1e-3, language="cuda")


_STABLE = pl.StableNeoHookean.from_young(1e5, 0.3)
#: Further kernels of vertex block descent, by what they are for.
FURTHER = {
    "Invertible(NeoHookean)": lambda: solid_source(pl.Invertible(pl.NeoHookean.from_young(1e5, 0.3)), pl.VBD()),
    "StableNeoHookean in patches": lambda: solid_source(_STABLE, pl.VBD(), element="patch"),
    "StableNeoHookean with contact": lambda: solid_source(_STABLE, pl.VBD(), contact=True),
    "YarnCloth": yarn_source,
}


def main() -> None:
    print("| law | kernel | " + " | ".join(CARDS) + " | shared memory |\n|---|---|" + "---|" * (len(CARDS) + 1))
    for name, law in SOLID_LAWS.items():
        for solver, kernels in KERNELS.items():
            ptx = to_ptx(cuda_source(law, solver))
            cards = [needs_of(ptx, card) for card in CARDS]
            for kernel in kernels:
                own = [card[kernel] for card in cards]
                spills = [f" (spills {need.spilled} B)" if need.spilled else "" for need in own]
                numbers = [f"{need.registers}{spilled}" for need, spilled in zip(own, spills, strict=True)]
                print(f"| {name} | {kernel} | {' | '.join(numbers)} | {own[0].shared} B |")
    for name, source in FURTHER.items():
        ptx = to_ptx(source())
        cards = [needs_of(ptx, card) for card in CARDS]
        for kernel, first in cards[0].items():
            numbers = " | ".join(str(card[kernel].registers) for card in cards)
            print(f"| {name} | {kernel} | {numbers} | {first.shared} B |")
    ptx = to_ptx(grains_source())
    cards = [needs_of(ptx, card) for card in CARDS]
    for kernel in ("relax", "gather"):
        print(f"| grains | {kernel} | {' | '.join(str(card[kernel].registers) for card in cards)} | 0 B |")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
