"""What keeps an archive from being written or read."""

from __future__ import annotations

from coordroomsd.store.errors import StoreError


class ArchiveError(StoreError):
    """The file cannot be written, or is not what it should be. Nothing of it was kept."""


class NotEmptyError(StoreError):
    """The database has something that would be overwritten."""
