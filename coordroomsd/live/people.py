"""Who is enrolled, in memory: every call looks a token up, and a revoked one ends at once."""

from __future__ import annotations

from collections.abc import Iterable

from coordroomsd.domain.identities import Enrolled, secret_hash


class People:
    """The enrolled of all projects, as committed.

    `version` is how often they had been written then: the store has a larger one when another
    daemon wrote.
    """

    def __init__(self, enrolled: Iterable[Enrolled], version: int = 0) -> None:
        self.version = version
        self._by_name: dict[tuple[str, str], Enrolled] = {}
        self._by_hash: dict[bytes, Enrolled] = {}
        for one in enrolled:
            self.put(one)

    def put(self, one: Enrolled) -> None:
        """Enrol, or replace what is known under this name; an earlier token ends."""
        before = self._by_name.get((one.project, one.name))
        if before and before.token_hash:
            self._by_hash.pop(before.token_hash, None)
        self._by_name[one.project, one.name] = one
        if one.token_hash:
            self._by_hash[one.token_hash] = one

    def get(self, project: str, name: str) -> Enrolled | None:
        return self._by_name.get((project, name))

    def needs_token(self, project: str, name: str) -> bool:
        """Whether the id is a person's or an operator's, for whom a socket cannot speak."""
        one = self.get(project, name)
        return one is not None and one.role != "agent"

    def of_token(self, token: str) -> Enrolled | None:
        """Whose token it is. Finding a hash in a table tells nothing of the token by its time."""
        return self._by_hash.get(secret_hash(token))
