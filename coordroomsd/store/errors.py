"""Everything the store gives up on. Each message says what happened, to what, and the next step."""

from __future__ import annotations


class StoreError(Exception):
    """The database cannot be used as it is; the message is for whoever runs the daemon."""


class PrivatePostgresError(StoreError):
    """The private database server could not be made, started or kept."""


class StateDirectoryInUseError(PrivatePostgresError):
    """Another daemon holds the state directory; the message has its process id."""


class StateDirectoryError(PrivatePostgresError):
    """The state directory, or a directory on the way to it, does not serve."""


class RunAsError(PrivatePostgresError):
    """The user that the private server should run as does not exist, or is root."""


class BinariesNotFoundError(PrivatePostgresError):
    """No PostgreSQL that is new enough, complete and able to run was found."""


class DataVersionError(PrivatePostgresError):
    """The data directory was made by a PostgreSQL of a major version that is not here."""


class ServerFailedError(PrivatePostgresError):
    """`initdb` or `postgres` ended by itself; the message has the end of its log."""


class DatabaseUnreachableError(StoreError):
    """The database did not answer, or did not let us in."""


class DatabaseUnsuitableError(StoreError):
    """The database answers but cannot serve: too old, a standby, or behind a transaction pooler."""


class DatabaseOwnedError(StoreError):
    """Another daemon owns the database; the message has what it said about itself."""


class NoSpaceError(StoreError):
    """The disk of the private server is nearly full; nothing was written."""


class OwnershipLostError(StoreError):
    """While the write connection was away, somebody else owned the database.

    What this process remembers of it may be out of date: it must not write again, but end.
    """


class MigrationError(StoreError):
    """A migration failed, or the shipped files and the database's history do not fit."""


class DatabaseNewerError(MigrationError):
    """A newer program has migrated the database; this one must not touch it."""


class MigrationChangedError(MigrationError):
    """A file was edited after it had been applied."""
