"""Server-sent events from bytes, however they are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coordrooms.event_streams import Frame, FrameReader

STREAM = (
    "retry: 1000\n\n"
    ": heartbeat\n\n"
    'id: 3\ndata: {"body": "grüß"}\n\n'
    "id: 4\r\ndata: a\r\ndata:  b\r\n\r\n"
    "event: closing\ndata: {}\n\n"
    "id: 9\n\n"
    "data: last\n\n"
).encode()

FRAMES = [
    Frame("3", "message", '{"body": "grüß"}'),
    Frame("4", "message", "a\n b"),
    Frame("4", "closing", "{}"),
    Frame("9", "message", "last"),
]


@given(st.sets(st.integers(1, len(STREAM) - 1)))
def test_frames_are_the_same_however_they_are_cut(cuts: set[int]) -> None:
    reader, frames, last = FrameReader(), [], 0
    for cut in [*sorted(cuts), len(STREAM)]:
        frames += reader.feed(STREAM[last:cut])
        last = cut
    assert frames == FRAMES


def test_a_frame_that_breaks_off_is_none() -> None:
    assert FrameReader().feed(b"id: 5\ndata: half\n") == []
