from __future__ import annotations

import orjson

from coordroomsd.api.call import fingerprint


def test_the_spelling_does_not_count() -> None:
    one = fingerprint(orjson.loads('{"a": 1, "b": [1, 2]}'), [("x", "1"), ("y", "2")])
    other = fingerprint(orjson.loads('{"b":[1,2],"a":1}'), [("y", "2"), ("x", "1")])
    assert one == other


def test_what_is_said_counts() -> None:
    said = [
        ({"a": 1}, []),
        ({"a": 2}, []),
        ({"a": "1"}, []),
        ({"a": True}, []),
        ({"a": [1, 2]}, []),
        ({"a": [2, 1]}, []),
        ({"a": None}, []),
        ({}, []),
        (None, []),
        ({"a": 1}, [("x", "1")]),
        ({"a": 1}, [("x", "2")]),
        ({"a": 1}, [("x", "1"), ("x", "2")]),
        ({"a": "\ud800"}, []),
        ({"a": "\ud801"}, []),
    ]
    assert len({fingerprint(body, query) for body, query in said}) == len(said)
