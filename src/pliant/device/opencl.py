"""One OpenCL device: its context and queue, buffers, and programs that are compiled once.

pyopencl is imported here and nowhere else, when a device is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from pliant.arguments import is_one_of
from pliant.device.pocl_cpu import name_cpu
from pliant.errors import DeviceError

INSTALL = 'pip install "pliant[device]" brings pyopencl and PoCL, which runs OpenCL on any CPU'

#: Schedules of vertex block descent on a device, and what each is.
SCHEDULES = {
    "groups": "a work-group per vertex, its work-items over the elements",
    "packed": "work-groups of 32 vertices of a colour, with their neighbours in local memory",
    "items": "a work-item per vertex",
}


@dataclass(frozen=True)
class OpenCL:
    """Which OpenCL device a simulation runs on, and how.

    index: number of the device in the list that `pliant info` prints.
    schedule: "groups", "packed" or "items" (SCHEDULES); None: "items" on a CPU, "groups" elsewhere.
    """

    index: int = 0
    schedule: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.index, bool) or not isinstance(self.index, int) or self.index < 0:
            raise DeviceError(f"OpenCL: index is {self.index!r}: give the number of a device, 0 for the first.")
        if self.schedule is not None and not is_one_of(self.schedule, SCHEDULES):
            raise DeviceError(f"OpenCL: schedule is {self.schedule!r}: it must be one of {', '.join(SCHEDULES)}.")


def as_device(device: object) -> OpenCL | None:
    """The device that a user names: None for "cpu"."""
    if isinstance(device, OpenCL):
        return device
    if isinstance(device, str) and device in ("cpu", "opencl"):
        return None if device == "cpu" else OpenCL()
    raise DeviceError(
        f'device is {device!r}: it must be "cpu", "opencl", "auto", or a pl.OpenCL(index=..., schedule=...).'
    )


def _pyopencl() -> Any:
    try:
        return import_module("pyopencl")
    except ImportError:
        raise DeviceError(f"there is no OpenCL: pyopencl is not installed. {INSTALL}.") from None


def _all_devices() -> list[Any]:
    cl = _pyopencl()
    try:
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error:  # no driver: an empty list of platforms is an error of its own
        return []
    for device in devices:
        name_cpu(device)
    return devices


def describe_devices() -> list[dict[str, Any]]:
    """What `pliant info` prints of every OpenCL device; an empty list where there is none or no pyopencl."""
    try:
        devices = _all_devices()
    except DeviceError:
        return []
    return [
        {
            "index": k,
            "name": device.name.strip(),
            "platform": device.platform.name.strip(),
            "version": device.version.strip(),
            "compute_units": int(device.max_compute_units),
            "memory_bytes": int(device.global_mem_size),
            "local_memory_bytes": int(device.local_mem_size),
            "has_double": bool(device.double_fp_config),
        }
        for k, device in enumerate(devices)
    ]


class Executor:
    """A device with a queue on which commands run in order."""

    def __init__(self, device: Any):
        self._cl = _pyopencl()
        self.device = device
        self.name = device.name.strip()
        self.is_cpu = bool(device.type & self._cl.device_type.CPU)
        with self.faults("cannot be opened"):
            self.context = self._cl.Context([device])
            self.queue = self._cl.CommandQueue(self.context)
        self._programs: dict[str, Any] = {}
        self._sent: list[Any] = []  # copies to the device that it may not have taken yet; each keeps its numbers

    @contextmanager
    def faults(self, what: str) -> Iterator[None]:
        """Turn what the driver reports into one error in plain words."""
        try:
            yield
        except self._cl.MemoryError as error:
            free = self.device.global_mem_size / 1e6
            raise DeviceError(
                f"the OpenCL device {self.name} {what}: it is out of memory, of which it has {free:.0f} MB ({error}). "
                'Use a smaller scene, another device, or device="cpu".'
            ) from None
        except self._cl.Error as error:
            raise DeviceError(
                f"the OpenCL device {self.name} {what}: {error}. The state is that of the last complete step; "
                'device="cpu" continues from it.'
            ) from None

    def buffer(self, array: np.ndarray) -> Any:
        """A copy of an array on the device; of one without entries a place that nothing reads."""
        flags = self._cl.mem_flags
        content = np.ascontiguousarray(array) if array.size else np.zeros(1, array.dtype)
        with self.faults("cannot take up the scene"):
            if content.nbytes > self.device.max_mem_alloc_size:
                raise self._cl.MemoryError(
                    f"one table has {content.nbytes / 1e6:.0f} MB, at most "
                    f"{self.device.max_mem_alloc_size / 1e6:.0f} MB are possible"
                )
            return self._cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=content)

    def write(self, buffer: Any, array: np.ndarray) -> None:
        """Write to a buffer without waiting; the array may change as soon as this returns."""
        if array.size:
            own = np.array(array, order="C")
            with self.faults("does not take numbers"):
                self._sent.append(self._cl.enqueue_copy(self.queue, buffer, own, is_blocking=False))

    def flush(self) -> None:
        """Let the device begin with what was enqueued."""
        with self.faults("does not take commands"):
            self.queue.flush()

    def read(self, buffer: Any, array: np.ndarray) -> None:
        """Wait for all commands, then read."""
        with self.faults("was lost or failed while it computed"):
            self._cl.enqueue_copy(self.queue, array, buffer, is_blocking=True)
            self._sent.clear()

    def zero(self, buffer: Any) -> None:
        """Fill a buffer with zeros."""
        with self.faults("does not take numbers"):
            self._cl.enqueue_fill_buffer(self.queue, buffer, np.zeros(1, np.int32), 0, buffer.size)

    def copy(self, target: Any, source: Any) -> None:
        """Copy one buffer to another of the same size."""
        with self.faults("does not copy"):
            self._cl.enqueue_copy(self.queue, target, source)

    def program(self, source: str) -> Any:
        """A compiled program, kept for the next simulation with the same text."""
        if source not in self._programs:
            with self.faults("does not compile a scene's kernels"):
                self._programs[source] = self._cl.Program(self.context, source).build(cache_dir=None)
        return self._programs[source]

    def kernel(self, source: str, name: str, arguments: list[Any]) -> Launch:
        """A kernel with its arguments set, ready to be launched again and again."""
        with self.faults(f"cannot make the kernel {name}"):
            kernel = self._cl.Kernel(self.program(source), name)
            kernel.set_args(*arguments)
        return Launch(kernel, self._enqueue, self._set, arguments)

    def _set(self, kernel: Any, place: int, value: Any) -> None:
        with self.faults("does not take numbers"):
            kernel.set_arg(place, value)

    def _enqueue(self, kernel: Any, items: int, group: int) -> None:
        with self.faults("does not run a kernel"):
            self._cl.enqueue_nd_range_kernel(self.queue, kernel, (items,), (group,))


@dataclass
class Launch:
    """A kernel and its arguments."""

    kernel: Any
    enqueue: Callable[[Any, int, int], None]
    set_argument: Callable[[Any, int, Any], None]
    arguments: list[Any]  # OpenCL does not keep buffers alive that a kernel takes

    def set(self, place: int, value: Any) -> None:
        """Change one argument."""
        self.set_argument(self.kernel, place, value)

    def __call__(self, groups: int, group: int) -> None:
        """Enqueue so many work-groups of a size, without waiting."""
        if groups > 0:
            self.enqueue(self.kernel, groups * group, group)


@cache
def open_device(index: int) -> Executor:
    """The device of a number, opened once."""
    devices = _all_devices()
    if not devices:
        raise DeviceError(
            "no OpenCL device was found: install the driver of your graphics card, or PoCL for the CPU "
            f'({INSTALL}), or use device="cpu".'
        )
    if index >= len(devices):
        raise DeviceError(f"there is no OpenCL device {index}: `pliant info` lists {len(devices)}, numbered from 0.")
    if not devices[index].double_fp_config:
        raise DeviceError(
            f"the OpenCL device {devices[index].name.strip()} has no double precision, in which ill-conditioned "
            'vertex blocks are solved: choose another, or device="cpu".'
        )
    return Executor(devices[index])
