"""What can go wrong, in plain words.

Every error is a sentence that names the object, the index, the value and what to do about it.
"""


class PliantError(Exception):
    """Anything Pliant raises on purpose."""


class MeshError(PliantError, ValueError):
    """A mesh that cannot be simulated: bad numbers, bad indices, inverted or flat elements."""


class MaterialError(PliantError, ValueError):
    """A law or its parameters make no physical sense."""


class SceneError(PliantError, ValueError):
    """A scene that asks for something impossible."""


class SolverError(PliantError, ValueError):
    """A solver that does not fit the scene, or options that do not fit the solver."""


class SimulationError(PliantError, RuntimeError):
    """A simulation that cannot go on."""


class FileError(PliantError, OSError):
    """A file that cannot be read, written or understood."""


class DeviceError(PliantError, RuntimeError):
    """An OpenCL device that is missing, or cannot run a scene."""
