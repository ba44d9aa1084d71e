"""SciPy's sparse matrices are imported late, and NumPy's compiler of Fortran not at all."""

import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
from pliant.sparse import sp
names, listed = set(dir(np)), list(np.__all__)
assert "scipy.sparse" not in sys.modules
assert sp.identity(2).sum() == 2.0
assert sp.csgraph.connected_components(sp.identity(3))[0] == 3
assert "numpy.f2py" not in sys.modules
assert set(dir(np)) == names and np.__all__ == listed
assert np.f2py.__name__ == "numpy.f2py"
"""


def test_scipy_is_imported_late_and_without_fortran() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
