"""The table of docs/choosing-a-solver.md says what classes declare."""

from pathlib import Path

from pliant.solvers import SOLVERS

PAGE = Path(__file__).parents[2] / "docs" / "choosing-a-solver.md"
COLUMNS = {
    "contact": "contact",
    "hard": "hard_constraints",
    "guarantee": "guarantee",
    "rigid bodies": "rigid_bodies",
    "particles": "particles",
    "spinning particles": "spins",
    "pressure": "pressure",
    "Invertible": "internal_state",
    "damping": "strain_rate_damping",
    "tearing": "tearing",
    "device": "device",
}


def table() -> str:
    """Solvers that support the same are in one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, solver in SOLVERS.items():
        able = solver.capabilities
        declared = {key: bool(getattr(able, key)) for key in COLUMNS.values()}
        declared["guarantee"] &= able.contact
        supported = tuple("yes" if declared[key] else "" for key in COLUMNS.values())
        rows.setdefault(supported, []).append(f"`{name}`")
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    lines += ["| " + ", ".join(names) + " | " + " | ".join(supported) + " |" for supported, names in rows.items()]
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines) + "\n"


def test_the_table_of_the_page_is_that_of_the_classes() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), f"write this table into the page:\n{table()}"
