"""The code of docs/control.md runs as it stands."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "control.md"


def test_the_code_of_the_page_runs():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names = {}
    exec(code, names)
    assert names["belt"].position == pytest.approx([0.1, 0.0, 0.0], abs=1e-12)
