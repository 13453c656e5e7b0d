-- What daemons that share a database need to know of each other's writes.

-- How often the room, and what belongs to it, was written: whoever decides on what it remembers names it.
ALTER TABLE rooms ADD COLUMN version bigint NOT NULL DEFAULT 0;

-- The same of who may come in: one row.
CREATE TABLE identities (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version  bigint  NOT NULL DEFAULT 0
);
INSERT INTO identities DEFAULT VALUES;

-- Those that share the database, each with the last batch that it has committed.
CREATE TABLE daemons (
    id      bigint      PRIMARY KEY,
    name    text        NOT NULL,
    bus     text        NOT NULL,
    batch   bigint      NOT NULL DEFAULT 0,
    seen_at timestamptz NOT NULL
) WITH (fillfactor = 10);

-- Whose calls are parked at which of them.
CREATE UNLOGGED TABLE parked (
    daemon_id     bigint NOT NULL,
    room_id       bigint NOT NULL,
    membership_id bigint NOT NULL,
    PRIMARY KEY (room_id, membership_id, daemon_id)
);
