"""Searches for garbage are rarer for a while, and then as they were."""

import gc

import pytest

from pliant.garbage import COLLECT_AFTER, collected_rarely, kept, uncollected


@pytest.fixture
def kept_threshold():
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize(("first", "meanwhile"), [(700, COLLECT_AFTER), (0, 0), (10**6, 10**6)])
def test_thresholds_are_raised_and_put_back(first, meanwhile, kept_threshold) -> None:
    gc.set_threshold(first, 10, 10)

    def fail():
        with collected_rarely():
            assert gc.get_threshold()[0] == meanwhile
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert gc.get_threshold() == (first, 10, 10)


@pytest.mark.parametrize("wanted", [True, False])
def test_imports_are_not_searched_and_searches_go_on_as_before(wanted) -> None:
    def fail():
        with uncollected():
            assert not gc.isenabled()
            raise KeyboardInterrupt

    assert gc.isenabled()
    if not wanted:
        gc.disable()
    try:
        with pytest.raises(KeyboardInterrupt):
            fail()
        assert gc.isenabled() == wanted
    finally:
        gc.enable()


def test_what_the_command_imports_is_left_out_of_searches() -> None:
    before = gc.get_freeze_count()
    try:
        with kept():
            made = [{"number": number} for number in range(1000)]
        assert gc.isenabled()
        assert gc.get_freeze_count() >= before + len(made)
    finally:
        gc.unfreeze()
