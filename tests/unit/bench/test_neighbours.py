from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import neighbours


def program(directory: Path, name: str, says: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where alone programs are looked for."""

    def path(name: str) -> str | None:
        return str(tmp_path / name) if (tmp_path / name).exists() else None

    monkeypatch.setattr(neighbours, "_path", path)
    return tmp_path


async def test_one_that_is_not_installed_is_left_out_and_it_is_said_how_to_install_it(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with neighbours.redis(installed) as redis, neighbours.nats(installed) as nats:
        assert redis is None
        assert nats is None
    said = capsys.readouterr().out
    assert "redis-server is not installed and left out; `make neighbours`" in said
    assert "nats-server is not installed and left out; `make bench`" in said
    assert list(neighbours.described()) == [
        "redis-server: not installed, left out",
        "nats-server: not installed, left out",
    ]


@pytest.mark.parametrize(
    ("version", "durability"),
    [
        ("2.15.1", "sync_interval always"),
        ("2.10.0", "sync_interval always"),
        ("2.9.10", "not synced"),
    ],
)
def test_the_report_says_how_durable_each_one_is(
    installed: Path, version: str, durability: str
) -> None:
    program(
        installed, "redis-server", "Redis server v=7.0.15 sha=0:0 malloc=jemalloc-5.3.0 bits=64"
    )
    program(installed, "nats-server", f"nats-server: v{version}")
    redis, nats = neighbours.described()
    assert redis == "redis-server 7.0.15, appendfsync always"
    assert nats.startswith(f"nats-server {version}, {durability}")
