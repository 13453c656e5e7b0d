"""What is advertised: complete, and small."""

from __future__ import annotations

import json

from coordroomsd.domain.events import CONVERSATION_KINDS, REACTIONS, ROOM_KINDS
from coordroomsd.mcp import catalogues
from coordroomsd.mcp.arguments import meaning
from coordroomsd.mcp.tools import TOOLS

CATALOGUE = catalogues.load()
# Hosts put every tool of every server before every turn of the model.
MOST_BYTES = 6144
ENVELOPE = {
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "coordrooms", "version": "10.10.10"}},
}


def test_the_list_is_small_in_both_eras() -> None:
    listed = {"tools": CATALOGUE.tools, **ENVELOPE}
    text = json.dumps(listed, separators=(",", ":"), ensure_ascii=False)
    assert len(text.encode()) < MOST_BYTES


def test_each_tool_is_there_and_described() -> None:
    assert set(CATALOGUE.schemas) == {*TOOLS, "wait"}
    for tool in CATALOGUE.tools:
        assert set(tool) - {"annotations"} == {"name", "description", "inputSchema"}
        assert tool["description"].endswith(".")
        schema = tool["inputSchema"]
        assert set(schema.get("required", [])) <= set(schema["properties"])


def test_no_tool_has_two_arguments_that_mean_the_same() -> None:
    for schema in CATALOGUE.schemas.values():
        names = list(schema["properties"])
        assert len({meaning(name) for name in names}) == len(names)


def test_the_kinds_are_the_rooms() -> None:
    messages = CATALOGUE.schemas["write_messages"]["properties"]["messages"]["items"]
    assert messages["properties"]["kind"]["enum"] == list(ROOM_KINDS)
    send = CATALOGUE.schemas["send_to_peer"]["properties"]
    assert send["kind"]["enum"] == list(CONVERSATION_KINDS)
    react = CATALOGUE.schemas["react_to_message"]["properties"]
    assert react["reaction"]["enum"] == list(REACTIONS)


def test_tools_that_only_read_say_so() -> None:
    reading = {tool["name"] for tool in CATALOGUE.tools if "annotations" in tool}
    assert reading == {"list_active_rooms", "list_room_messages", "list_claims", "wait"}
