"""What can go wrong, in plain words.

Every error is a sentence that names the object, the index, the value and what to do about it. `entry` names the
section of docs/troubleshooting.md on errors of a class.
"""


class PliantError(Exception):
    """Anything Pliant raises on purpose."""

    entry = "errors"


class MeshError(PliantError, ValueError):
    """A mesh that cannot be simulated: bad numbers, bad indices, inverted or flat elements."""

    entry = "mesh-errors"


class MaterialError(PliantError, ValueError):
    """A law or its parameters make no physical sense."""

    entry = "material-errors"


class SceneError(PliantError, ValueError):
    """A scene that asks for something impossible."""

    entry = "scene-errors"


class SolverError(PliantError, ValueError):
    """A solver that does not fit the scene, or options that do not fit the solver."""

    entry = "solver-errors"


class SimulationError(PliantError, RuntimeError):
    """A simulation that cannot go on."""

    entry = "simulation-errors"


class FileError(PliantError, OSError):
    """A file that cannot be read, written or understood."""

    entry = "file-errors"


class DeviceError(PliantError, RuntimeError):
    """An OpenCL device that is missing, or cannot run a scene."""

    entry = "device-errors"
