"""What keeps a service from being installed or removed."""

from __future__ import annotations


class ServiceError(Exception):
    """Nothing has changed, or all was put back; the message says why, and what to do."""
