"""What is tried again and again: told when it begins to fail, fails otherwise, and works again."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from coordroomsd.domain.errors import Refusal
from coordroomsd.logs.lines import told
from coordroomsd.store.errors import StoreError
from coordroomsd.store.faults import Fault, fault_of


class Trouble:
    """`what` completes a sentence: could not …"""

    def __init__(self, logger: logging.Logger, what: str) -> None:
        self._logger = logger
        self._what = what
        self._like: Hashable = None

    def met(self, error: Exception) -> None:
        """It has failed; of a bug the places are told."""
        is_bug = fault_of(error) is Fault.REFUSED and not isinstance(error, Refusal | StoreError)
        # Not by their texts, in which a number may change each time.
        like = (type(error), getattr(error, "code", None))
        self._tell(told(error), like, error if is_bug else None)

    def failed(self, reason: str) -> None:
        """The same where there is no exception."""
        self._tell(reason, reason, None)

    def over(self) -> None:
        """It has worked."""
        if self._like is not None:
            self._like = None
            self._logger.info("can %s again", self._what)

    @contextmanager
    def told(self) -> Iterator[None]:
        """One attempt, which may fail."""
        try:
            yield
        except Exception as error:
            self.met(error)
        else:
            self.over()

    def _tell(self, reason: str, like: Hashable, bug: Exception | None) -> None:
        if like != self._like:
            self._like = like
            self._logger.warning("could not %s: %s", self._what, reason, exc_info=bug)
