"""A bar while the functions that a scene needs are compiled, which happens before and within its first frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from pliant.lanes.entry import Use

# Functions that the first frame of a scene uses, measured on the gallery; contact is searched before all else.
USUAL, WITH_CONTACT = 32, 60


@contextmanager
def compile_bar(silent: bool) -> Iterator[None]:
    """Show one bar on standard error, if that is a terminal, once a function is compiled, until the end."""
    console = Console(stderr=True)
    if silent or not console.is_terminal:
        yield
        return
    from pliant.lanes.entry import USES

    with CompileBar(USES, console):
        yield


class CompileBar(Progress):
    """Counts the functions in a list, which grows, whenever it is drawn."""

    def __init__(self, uses: Sequence[Use], console: Console):
        columns = (BarColumn(12), MofNCompleteColumn(), TextColumn("functions compiled"), TimeElapsedColumn())
        self._uses, self._counted = uses, len(uses)
        super().__init__(*columns, console=console, transient=True)
        self.add_task("", total=USUAL, visible=False)

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar as it is now; its total is what such scenes usually need, or more if there are more."""
        uses = self._uses[:]
        new = uses[self._counted :]
        total = max(WITH_CONTACT if any(use.name.startswith("pliant.contact") for use in uses) else USUAL, len(uses))
        is_compiling = any(use.origin == "compiled" for use in new)
        for task in self.tasks:
            self.update(task.id, completed=len(uses), total=total, visible=is_compiling)
        return super().get_renderables()
