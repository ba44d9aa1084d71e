"""Searches for garbage are rarer for a while, and then as they were."""

import gc

import pytest

from pliant.garbage import COLLECT_AFTER, collected_rarely


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
