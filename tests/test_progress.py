"""Bars."""

import warnings

import pytest

from pliant.progress import progress_bar


@pytest.mark.parametrize("is_notebook", [False, True])
def test_a_bar_without_terminal_is_one_line_at_the_end(is_notebook, monkeypatch, capsys):
    """In a notebook without ipywidgets too, where rich would warn and show nothing."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: is_notebook)
    monkeypatch.setattr("pliant.progress.find_spec", lambda name: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with progress_bar("falling", 3) as tick:
            for _ in range(3):
                tick()
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("falling ")
    assert " 3/3 " in line
