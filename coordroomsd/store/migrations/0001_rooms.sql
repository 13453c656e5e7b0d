-- Every hot table is keyed by room_id first, so that it can be hash-partitioned by it.
-- Only the journal writes here (store/writer.py), apart from migrations.

-- One row: which life of the database this is, and the last batch that was committed.
CREATE TABLE journal (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    generation text    NOT NULL DEFAULT replace(gen_random_uuid()::text, '-', ''),
    batch      bigint  NOT NULL DEFAULT 0,
    owner      text    NOT NULL DEFAULT ''
) WITH (fillfactor = 10);
INSERT INTO journal DEFAULT VALUES;

CREATE TABLE participants (
    id              bigint PRIMARY KEY,
    project         text        NOT NULL,
    conversation_id text        NOT NULL,
    name            text        NOT NULL,
    kind            text        NOT NULL CHECK (kind IN ('agent', 'human')),
    role            text        NOT NULL CHECK (role IN ('agent', 'human', 'operator')),
    -- The one room of kind `room` that the participant is active in.
    active_room_id  bigint,
    -- The room that it was active in last, for the refusal that names it.
    last_room_id    bigint,
    created_at      timestamptz NOT NULL,
    UNIQUE (project, conversation_id)
) WITH (fillfactor = 80);

CREATE TABLE rooms (
    id         bigint PRIMARY KEY,
    project    text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('room', 'peer', 'admin')),
    name       text,
    slug       text,
    -- A conversation's two participants, the smaller id first.
    pair       bigint[],
    created_at timestamptz NOT NULL,
    latest_seq bigint      NOT NULL,
    -- What retention has left: everything before this number may be gone.
    first_seq  bigint      NOT NULL DEFAULT 1,
    max_age_s  bigint,
    max_events bigint,
    UNIQUE (project, slug),
    UNIQUE (pair)
) WITH (fillfactor = 50);

CREATE TABLE memberships (
    room_id        bigint      NOT NULL,
    id             bigint      NOT NULL,
    participant_id bigint      NOT NULL,
    active         boolean     NOT NULL,
    cursor         bigint      NOT NULL,
    last_seen_seq  bigint      NOT NULL,
    last_seen_at   timestamptz NOT NULL,
    created_at     timestamptz NOT NULL,
    PRIMARY KEY (room_id, id),
    UNIQUE (room_id, participant_id)
) WITH (fillfactor = 70);
CREATE INDEX memberships_of_participant ON memberships (participant_id);

-- From when to when a member was active, as numbers of its room; outlives the events that retention removes.
CREATE TABLE attendances (
    room_id       bigint NOT NULL,
    membership_id bigint NOT NULL,
    joined_seq    bigint NOT NULL,
    left_seq      bigint,
    PRIMARY KEY (room_id, membership_id, joined_seq)
);

CREATE TABLE events (
    room_id       bigint      NOT NULL,
    seq           bigint      NOT NULL,
    type          text        NOT NULL,
    reason        text,
    at            timestamptz NOT NULL,
    -- Whose doing it is or, when the daemon acted by itself, whom it concerns.
    membership_id bigint      NOT NULL,
    by_daemon     boolean     NOT NULL,
    -- A message's own fields; all other types keep theirs in `detail`.
    kind          text,
    body          text,
    reply_to      bigint,
    detail        jsonb,
    PRIMARY KEY (room_id, seq)
);
CREATE INDEX events_by_reply_to ON events (room_id, reply_to, seq) WHERE reply_to IS NOT NULL;

CREATE TABLE statuses (
    room_id       bigint      NOT NULL,
    membership_id bigint      NOT NULL,
    status        text        NOT NULL,
    since         timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    PRIMARY KEY (room_id, membership_id)
);
CREATE INDEX statuses_by_deadline ON statuses (expires_at);

CREATE TABLE claims (
    room_id         bigint      NOT NULL,
    key             text        NOT NULL,
    membership_id   bigint      NOT NULL,
    since           timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    fence           bigint      NOT NULL,
    proposed_by_seq bigint,
    PRIMARY KEY (room_id, key)
);
CREATE INDEX claims_by_deadline ON claims (expires_at);

CREATE TABLE reactions (
    room_id       bigint      NOT NULL,
    message_id    bigint      NOT NULL,
    membership_id bigint      NOT NULL,
    reaction      text        NOT NULL,
    at            timestamptz NOT NULL,
    PRIMARY KEY (room_id, message_id, membership_id, reaction)
);

-- Answers that were given under an idempotency key; room_id is 0 where the call has no room.
CREATE TABLE idempotency (
    room_id        bigint      NOT NULL,
    participant_id bigint      NOT NULL,
    route          text        NOT NULL,
    key            text        NOT NULL,
    fingerprint    bytea       NOT NULL,
    status         smallint    NOT NULL,
    answer         bytea       NOT NULL,
    at             timestamptz NOT NULL,
    PRIMARY KEY (room_id, participant_id, route, key)
);
CREATE INDEX idempotency_by_age ON idempotency USING brin (at);
