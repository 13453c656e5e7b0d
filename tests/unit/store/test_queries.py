from __future__ import annotations

import re

import pytest

from coordroomsd.store import queries


@pytest.mark.parametrize("file_name", ["queries.sql", "write.sql"])
def test_every_statement_has_a_name_and_numbers_its_parameters(file_name: str) -> None:
    statements = queries.load(file_name)
    assert len(statements) > 10
    for name, sql in statements.items():
        used = {int(number) for number in re.findall(r"\$(\d+)", sql)}
        assert used == set(range(1, len(used) + 1)), name


def test_nothing_notifies() -> None:
    """NOTIFY takes a lock at commit that all who notify wait for."""
    for file_name in ("queries.sql", "write.sql"):
        for name, sql in queries.load(file_name).items():
            assert "notify" not in sql.lower(), name


def test_reading_does_not_write() -> None:
    changes = re.compile(r"\b(insert|update|delete|truncate)\b", re.IGNORECASE)
    writing = {name for name, sql in queries.load("queries.sql").items() if changes.search(sql)}
    assert all(name.startswith(("forget_", "index_")) for name in writing), writing
