-- Which questions are open is asked whenever a room on somebody's page changes; most messages are none.
CREATE INDEX questions ON events (room_id, seq) WHERE kind = 'question';
