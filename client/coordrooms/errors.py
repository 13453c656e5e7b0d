"""What can go wrong, as classes. Every message says what happened, to what, and what to do next."""

from __future__ import annotations


class CoordroomsError(Exception):
    """The base of every error that this package raises by itself."""


class ConfigurationError(CoordroomsError):
    """A setting (an environment variable, a token file, an argument) cannot be used as it is."""
