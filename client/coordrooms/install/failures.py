"""What keeps an installation from being made; nothing is changed then."""

from __future__ import annotations

from ..cli.failures import FailedError


class InstallError(FailedError):
    """Says which file, what about it, and what to do."""
