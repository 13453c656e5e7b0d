from __future__ import annotations

import pytest

from coordroomsd.api.operations import OPERATIONS
from coordroomsd.api.routes import Routes
from coordroomsd.domain.errors import Refusal


@pytest.fixture
def routes() -> Routes:
    return Routes(OPERATIONS)


@pytest.mark.parametrize(
    ("method", "path", "operation", "parameters"),
    [
        ("GET", "/me", "getMe", {}),
        ("GET", "/rooms", "listRooms", {}),
        ("POST", "/rooms", "createRoom", {}),
        ("GET", "/rooms/the-plan", "getRoom", {"room": "the-plan"}),
        ("GET", "/rooms/The%20Plan%2B", "getRoom", {"room": "The Plan+"}),
        ("GET", "/rooms/a%2Fb/members", "listMembers", {"room": "a/b"}),
        ("GET", "/rooms/%E2%9C%93/wait", "waitInRoom", {"room": "✓"}),
        ("GET", "/rooms/wait", "getRoom", {"room": "wait"}),
        ("GET", "/rooms/@active/messages/7", "getMessage", {"room": "@active", "message": "7"}),
        (
            "PUT",
            "/rooms/plan/messages/7/reactions/ack",
            "addReaction",
            {"room": "plan", "message": "7", "reaction": "ack"},
        ),
        ("GET", "/rooms/", "getRoom", {"room": ""}),
        ("POST", "/wait", "wait", {}),
        ("POST", "/conversations/room_1/messages", "sendMessage", {"conversation": "room_1"}),
        ("DELETE", "/participants/ada/tokens", "revokeTokens", {"name": "ada"}),
    ],
)
def test_a_path_leads_to_its_operation(
    routes: Routes, method: str, path: str, operation: str, parameters: dict[str, str]
) -> None:
    found, values = routes.match(method, path)
    assert (found.id, values) == (operation, parameters)


@pytest.mark.parametrize(
    "path",
    ["", "/", "/nothing", "/me/", "/rooms/plan/nothing", "/rooms/plan/messages/7/reactions/ack/x",
     "/conversations/x", "//rooms", "/ROOMS"],
)  # fmt: skip
def test_elsewhere_there_is_nothing(routes: Routes, path: str) -> None:
    for method in ("GET", "POST", "PATCH"):
        with pytest.raises(Refusal) as caught:
            routes.match(method, path)
        assert caught.value.code == "not_found"


@pytest.mark.parametrize("name", ["%FF", "%ED%A0%80", "%C0%AF"])
def test_what_is_no_text_names_nothing(routes: Routes, name: str) -> None:
    with pytest.raises(Refusal) as caught:
        routes.match("GET", f"/rooms/{name}")
    assert caught.value.code == "not_found"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/rooms", "GET, POST"),
        ("PATCH", "/me", "GET"),
        ("get", "/me", "GET"),
        ("POST", "/rooms/plan/messages/7/reactions/ack", "DELETE, PUT"),
        ("GET", "/rooms/plan/join", "POST"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    routes: Routes, method: str, path: str, allowed: str
) -> None:
    with pytest.raises(Refusal) as caught:
        routes.match(method, path)
    assert caught.value.code == "method_not_allowed"
    assert caught.value.extra["allow"] == allowed


def test_every_operation_is_found_under_its_own_path(routes: Routes) -> None:
    for operation in OPERATIONS:
        path = "/".join("x" if part.startswith("{") else part for part in operation.path.split("/"))
        found, _ = routes.match(operation.method, path)
        assert found is operation
