"""Tests of this folder need an OpenCL device: PoCL, which the extra `device` installs, makes one of any CPU."""

import pytest

from pliant.device.opencl import describe_devices


@pytest.fixture(scope="session", autouse=True)
def _device() -> None:
    if not describe_devices():
        pytest.skip("no OpenCL device")
