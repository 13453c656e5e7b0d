"""What `import coordrooms` offers, and how little it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

import coordrooms
from coordrooms import async_clients, public


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after `code`."""
    program = f"import sys; before = set(sys.modules); {code}; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_every_public_name_is_there() -> None:
    names = [*public.__all__, *async_clients.__all__]
    assert [name for name in names if getattr(coordrooms, name, None) is None] == []
    assert set(names) <= set(dir(coordrooms))
    assert len(names) == len(set(names))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'coordrooms' has no attribute 'Rome'"):
        _ = coordrooms.Rome  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="has no attribute 'AsyncRome'"):
        _ = coordrooms.AsyncRome  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing_else() -> None:
    assert loaded_by("import coordrooms") == {"coordrooms"}


def test_finding_the_daemon_loads_no_more_than_it_needs() -> None:
    loaded = loaded_by("import coordrooms.addresses")
    assert {name for name in loaded if not name.startswith("coordrooms")} <= {
        "__future__",
        "warnings",
    }


def test_the_blocking_client_loads_nothing_slow() -> None:
    loaded = loaded_by("import coordrooms; coordrooms.Client")
    slow = {"asyncio", "dataclasses", "inspect", "ssl", "urllib", "http", "uuid", "random"}
    assert loaded & slow == set()
