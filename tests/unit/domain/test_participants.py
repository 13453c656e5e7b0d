from __future__ import annotations

import pytest

from coordroomsd.domain.participants import Actor, Participant, display_name


@pytest.mark.parametrize(
    ("conversation_id", "name"),
    [
        ("claude-1", "claude-1"),
        ("ada/laptop", "ada"),
        ("ada/laptop/2", "ada"),
        ("ada/", "ada"),
        ("/x", "/x"),
        ("Ünï", "Ünï"),
    ],
)
def test_a_participant_is_called_by_what_stands_before_the_slash(
    conversation_id: str, name: str
) -> None:
    assert display_name(conversation_id) == name
    assert Actor("default", conversation_id, "agent", "agent").name == name
    assert Participant(1, "default", conversation_id, "agent", "agent").name == name
