-- Reading a message's words costs more than storing it. They are read behind the writer (chores.py), and no post waits
-- for that; the newest messages, whose words are not here yet, a search reads itself.
DROP INDEX events_by_word;

CREATE TABLE words (
    room_id bigint   NOT NULL,
    seq     bigint   NOT NULL,
    words   tsvector NOT NULL,
    PRIMARY KEY (room_id, seq)
);

-- By room: the number up to which the words of its messages are in `words`.
CREATE TABLE indexed (
    room_id bigint PRIMARY KEY,
    seq     bigint NOT NULL
) WITH (fillfactor = 50);

INSERT INTO words
SELECT room_id, seq, to_tsvector('simple', only_words(body)) FROM events WHERE type = 'message';
INSERT INTO indexed SELECT id, latest_seq FROM rooms;
CREATE INDEX words_by_word ON words USING gin (words);
