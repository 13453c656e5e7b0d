-- Who may come in with a token, full-text search, and what retention needs to find.

-- One-time codes, kept as SHA-256; a used one is gone.
CREATE TABLE enrollments (
    code_hash  bytea PRIMARY KEY,
    project    text        NOT NULL,
    name       text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('agent', 'human')),
    role       text        NOT NULL CHECK (role IN ('agent', 'human', 'operator')),
    expires_at timestamptz NOT NULL
);
CREATE INDEX enrollments_by_deadline ON enrollments (expires_at);

-- A participant has one token, kept as SHA-256; null when it was revoked.
CREATE TABLE enrolled (
    project    text NOT NULL,
    name       text NOT NULL,
    kind       text NOT NULL,
    role       text NOT NULL,
    token_hash bytea,
    PRIMARY KEY (project, name)
);

-- 'simple': no language's stemming, for agents and people write in any. The writer only appends to the pending list,
-- which upkeep merges; the limit keeps the writer from ever doing that itself.
CREATE INDEX events_by_word ON events USING gin (to_tsvector('simple', body))
    WITH (fastupdate = on, gin_pending_list_limit = 65536) WHERE type = 'message';

CREATE INDEX participants_by_prefix ON participants (project, conversation_id text_pattern_ops);
