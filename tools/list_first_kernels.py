"""Write src/pliant/lanes/first_kernels.txt: what the first frames of gallery scenes compile, for lanes.ahead.

    python tools/list_first_kernels.py

Modules that are generated for a scene's laws stand in it by name and number ("vbd#0"): their text is known only when
the scene is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

from pliant.lanes.ahead import VARIABLE
from pliant.lanes.first_kernels import LIST, SCENE, numba_type
from pliant.scenes.gallery import entries

HEAD = (
    "# What scenes compile first: module:function | types, then scenes with numbers of functions in order of need.\n"
    "# Written by tools/list_first_kernels.py.\n"
)

RECORD = """
import json, sys
from pliant.lanes.cache import label_of
from pliant.lanes.first_kernels import as_text
from pliant.lanes.entry import EntryCache
found = []
load = EntryCache.load_overload
def recorded(self, sig, context):
    types = sig if isinstance(sig, tuple) else sig.args
    place = label_of(self.function.__module__), self.function.__qualname__
    if place[0].startswith("pliant.") or "#" in place[0]:
        found.append((":".join(place), [as_text(kind) for kind in types], [str(kind) for kind in types]))
    return load(self, sig, context)
EntryCache.load_overload = recorded
from pliant.scenes.plans import open_plan
simulation = open_plan(sys.argv[1]).simulation()
for _ in range(3):
    simulation.advance()
print(json.dumps(found))
"""


def used(scene: str) -> list[tuple[str, list[str], list[str]]]:
    """Functions that the first frames of a scene call, and their types as text and in Numba's words, in order."""
    environment = os.environ | {VARIABLE: "1"}
    command = [sys.executable, "-c", RECORD, scene]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def is_readable(texts: list[str], types: list[str]) -> bool:
    """Whether types that were written as text are the same when read again."""
    try:
        return [str(numba_type(text)) for text in texts] == types
    except (SyntaxError, NameError, TypeError, ImportError, AttributeError):
        return False


def lines() -> list[str]:
    """Each function once, then the scenes."""
    numbers: dict[str, int] = {}
    scenes = []
    for scene in (entry.name for entry in entries()):
        needed: dict[int, None] = {}
        for place, texts, types in used(scene):
            if is_readable(texts, types):
                needed[numbers.setdefault(f"{place} | {'; '.join(texts)}", len(numbers))] = None
            else:
                print(f"left out: {place} for {', '.join(types)}")
        scenes.append(f"{SCENE}{scene}: {' '.join(map(str, needed))}")
    return [*numbers, *scenes]


if __name__ == "__main__":
    LIST.write_text(HEAD + "\n".join(lines()) + "\n")
    print(f"written: {LIST}")
