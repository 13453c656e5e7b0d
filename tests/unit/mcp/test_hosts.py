"""The longest wait, by host."""

from __future__ import annotations

import pytest

from coordroomsd.mcp.hosts import longest_wait_s


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("claude-code", 110),
        ("codex-mcp-client", 280),
        ("gemini-cli-mcp-client-coordrooms", 300),
        ("cursor-vscode", 50),
        ("JetBrains-IU", 25),
        ("something else", 50),
        ("", 50),
        (None, 50),
    ],
)
def test_a_wait_stays_below_the_hosts_limit(name: str | None, seconds: float) -> None:
    assert longest_wait_s(name) == seconds
