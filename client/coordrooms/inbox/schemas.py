"""The tables of an inbox, and its messages as they are read from them."""

VERSION = 1

# A message is known by `at` too: a database that was restored from an older copy gives numbers that
# it has given before to other messages.
SCHEMA = (
    """CREATE TABLE messages (
        position INTEGER PRIMARY KEY,
        conversation TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        generation TEXT NOT NULL,
        acknowledged INTEGER NOT NULL DEFAULT 0,
        document TEXT NOT NULL,
        UNIQUE (conversation, seq, at)
    )""",
    "CREATE INDEX open_messages ON messages (conversation, kind, seq) WHERE NOT acknowledged",
    """CREATE TABLE replies (
        conversation TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        sent_seq INTEGER,
        sent_in TEXT,
        PRIMARY KEY (conversation, seq, at)
    )""",
    """CREATE TABLE gaps (
        conversation TEXT NOT NULL,
        from_seq INTEGER NOT NULL,
        to_seq INTEGER NOT NULL,
        PRIMARY KEY (conversation, from_seq)
    )""",
)

ENTRIES = """
    SELECT conversation, document, generation, acknowledged, replaced,
        body IS NOT NULL AND sent_seq IS NULL OR NOT (acknowledged OR replaced) AS is_open,
        reply_kind, body, sent_seq, sent_in
    FROM (
        SELECT m.*, r.kind AS reply_kind, r.body, r.sent_seq, r.sent_in,
            EXISTS (SELECT 1 FROM messages AS later WHERE later.conversation = m.conversation
                AND later.seq = m.seq AND later.position > m.position) AS replaced
        FROM messages AS m LEFT JOIN replies AS r USING (conversation, seq, at)
    )
"""
