"""From a path to the operations there, and the values in the path."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from coordroomsd.api.call import Operation
from coordroomsd.domain.errors import Refusal

# Where the calls are, in front of every path here.
BASE = "/api/v1"
# No segment of a path is that.
_ANY = "/"


@dataclass(slots=True)
class _Node:
    """What follows a path's beginning; `operations` by method where a path ends here."""

    children: dict[str, _Node] = field(default_factory=dict)
    operations: dict[str, Operation] = field(default_factory=dict)


class Routes:
    def __init__(self, operations: Iterable[Operation]) -> None:
        # The same agents call at the same few addresses again and again.
        self.match = functools.lru_cache(maxsize=4096)(self._match)
        self._root = _Node()
        for operation in operations:
            node = self._root
            for segment in operation.path.strip("/").split("/"):
                name = _ANY if segment.startswith("{") else segment
                node = node.children.setdefault(name, _Node())
            node.operations[operation.method] = operation

    def _match(self, method: str, path: str) -> tuple[Operation, Mapping[str, str]]:
        """The operation for a percent-encoded path. Raises `not_found` or `method_not_allowed`."""
        node = self._root
        values: list[str] = []
        for segment in path.removeprefix("/").split("/"):
            if segment in node.children:
                node = node.children[segment]
            elif _ANY in node.children:
                node = node.children[_ANY]
                values.append(segment)
            else:
                raise _not_found(path)
        operation = node.operations.get(method)
        if operation is None:
            if not node.operations:
                raise _not_found(path)
            allowed = ", ".join(sorted(node.operations))
            raise Refusal(
                "method_not_allowed",
                f"{BASE}{path} takes {allowed}, not {method}.",
                allow=allowed,
            )
        return operation, _named(operation, values, path)


def _named(operation: Operation, values: list[str], path: str) -> Mapping[str, str]:
    names = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    try:
        return {
            name: unquote(value, errors="strict") for name, value in zip(names, values, strict=True)
        }
    except UnicodeDecodeError:
        raise _not_found(path) from None


def _not_found(path: str) -> Refusal:
    return Refusal("not_found", f"Nothing is served at {BASE}{path}.")
