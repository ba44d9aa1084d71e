"""The bar that is shown while functions are compiled."""

from rich.console import Console

from pliant.cli.compile_bar import USUAL, WITH_CONTACT, CompileBar
from pliant.lanes.entry import Use


def test_it_counts_to_what_scenes_usually_need_and_appears_once_something_is_compiled():
    uses = []
    bar = CompileBar(uses, Console(quiet=True))
    (task,) = bar.tasks

    def after(name, origin):
        uses.append(Use("file", name, origin, 0.1, 1))
        list(bar.get_renderables())
        return task.completed, task.total, task.visible

    assert after("pliant.geometry.colouring", "cache") == (1, USUAL, False)
    assert after("vbd sweep", "compiled") == (2, USUAL, True)
    assert after("pliant.contact.search.overlaps", "cache") == (3, WITH_CONTACT, True)
    for _ in range(WITH_CONTACT):
        after("another", "compiled")
    assert task.completed == task.total == WITH_CONTACT + 3


def test_what_was_compiled_before_does_not_show_it():
    bar = CompileBar([Use("file", "vbd sweep", "compiled", 0.1, 1)], Console(quiet=True))
    list(bar.get_renderables())
    assert not bar.tasks[0].visible
