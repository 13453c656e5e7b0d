-- The parts of the journal's write. A batch is one statement, made of the parts that it needs, as common table
-- expressions: one round trip, one commit. No part may touch a row that another part of the same statement touches.
-- A part's rows come as one array a column, `unnest($1::type[], …) AS name`; where there is but one row, store/writer.py
-- makes it `(VALUES ($1::type, …)) AS name`, which takes Postgres half the time.

-- name: batch
UPDATE journal SET batch = $1

-- name: shared_batch
UPDATE daemons SET batch = $1 WHERE id = $2 RETURNING 1

-- name: unmoved_rooms
-- What is `unmoved` is looked at before anything is written, and kept from others until the commit. Everybody takes
-- rooms in this order, so nobody waits for one that waits for him.
SELECT rooms.id FROM rooms JOIN unnest($1::bigint[], $2::bigint[]) AS expected (id, version) USING (id, version)
ORDER BY rooms.id FOR UPDATE OF rooms

-- name: unmoved_participants
SELECT participants.id FROM participants JOIN unnest($1::bigint[], $2::bigint[]) AS expected (id, active_room_id)
  ON participants.id = expected.id AND participants.active_room_id IS NOT DISTINCT FROM expected.active_room_id
ORDER BY participants.id FOR UPDATE OF participants

-- name: unmoved_identities
UPDATE identities SET version = version + 1 WHERE version = $1 RETURNING 1

-- name: participants
INSERT INTO participants (id, project, conversation_id, name, kind, role, active_room_id, last_room_id, created_at)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
                     $8::bigint[], $9::timestamptz[]) AS new
ON CONFLICT (id) DO UPDATE
SET active_room_id = excluded.active_room_id, last_room_id = excluded.last_room_id

-- name: rooms
INSERT INTO rooms (id, project, kind, name, slug, pair, created_at, latest_seq)
SELECT id, project, kind, name, slug,
       CASE WHEN pair_low IS NULL THEN NULL ELSE ARRAY[pair_low, pair_high] END, created_at, latest_seq
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
            $8::timestamptz[], $9::bigint[])
     AS new (id, project, kind, name, slug, pair_low, pair_high, created_at, latest_seq)

-- name: heads
UPDATE rooms
SET latest_seq = new.head, first_seq = new.first_seq, max_age_s = new.max_age_s, max_events = new.max_events,
    version = rooms.version + 1
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
     AS new (id, expected, head, first_seq, max_age_s, max_events)
WHERE rooms.id = new.id AND rooms.latest_seq = new.expected
RETURNING 1

-- name: memberships
INSERT INTO memberships (room_id, id, participant_id, active, cursor, last_seen_seq, last_seen_at, created_at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::bigint[],
                     $7::timestamptz[], $8::timestamptz[]) AS new
ON CONFLICT (room_id, id) DO UPDATE
SET active = excluded.active, cursor = greatest(memberships.cursor, excluded.cursor),
    last_seen_seq = greatest(memberships.last_seen_seq, excluded.last_seen_seq),
    last_seen_at = greatest(memberships.last_seen_at, excluded.last_seen_at)

-- name: positions
UPDATE memberships
SET cursor = greatest(memberships.cursor, new.cursor),
    last_seen_seq = greatest(memberships.last_seen_seq, new.last_seen_seq),
    last_seen_at = greatest(memberships.last_seen_at, new.last_seen_at)
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[])
     AS new (room_id, id, cursor, last_seen_seq, last_seen_at)
WHERE memberships.room_id = new.room_id AND memberships.id = new.id

-- name: arrivals
INSERT INTO attendances (room_id, membership_id, joined_seq, left_seq)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS new

-- name: departures
UPDATE attendances SET left_seq = new.left_seq
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS new (room_id, membership_id, left_seq)
WHERE attendances.room_id = new.room_id AND attendances.membership_id = new.membership_id
  AND attendances.left_seq IS NULL

-- name: messages
INSERT INTO events (room_id, seq, type, at, membership_id, by_daemon, kind, body, reply_to)
SELECT room_id, seq, 'message', $7, membership_id, false, kind, body, reply_to
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
     AS new (room_id, seq, membership_id, kind, body, reply_to)

-- name: other_events
INSERT INTO events (room_id, seq, type, reason, at, membership_id, by_daemon, detail)
SELECT room_id, seq, type, reason, at, membership_id, by_daemon, detail::jsonb
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::bigint[], $7::boolean[],
            $8::text[])
     AS new (room_id, seq, type, reason, at, membership_id, by_daemon, detail)

-- name: statuses
INSERT INTO statuses (room_id, membership_id, status, since, expires_at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS new
ON CONFLICT (room_id, membership_id) DO UPDATE
SET status = excluded.status, since = excluded.since, expires_at = excluded.expires_at

-- name: statuses_ended
DELETE FROM statuses USING unnest($1::bigint[], $2::bigint[]) AS ended (room_id, membership_id)
WHERE statuses.room_id = ended.room_id AND statuses.membership_id = ended.membership_id

-- name: claims
INSERT INTO claims (room_id, key, membership_id, since, expires_at, fence, proposed_by_seq)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::bigint[],
                     $7::bigint[]) AS new
ON CONFLICT (room_id, key) DO UPDATE
SET membership_id = excluded.membership_id, since = excluded.since, expires_at = excluded.expires_at,
    fence = excluded.fence, proposed_by_seq = excluded.proposed_by_seq

-- name: claims_ended
DELETE FROM claims USING unnest($1::bigint[], $2::text[]) AS ended (room_id, key)
WHERE claims.room_id = ended.room_id AND claims.key = ended.key

-- name: reactions
INSERT INTO reactions (room_id, message_id, membership_id, reaction, at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[]) AS new
ON CONFLICT (room_id, message_id, membership_id, reaction) DO UPDATE SET at = excluded.at

-- name: reactions_ended
DELETE FROM reactions
USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
      AS ended (room_id, message_id, membership_id, reaction)
WHERE reactions.room_id = ended.room_id AND reactions.message_id = ended.message_id
  AND reactions.membership_id = ended.membership_id AND reactions.reaction = ended.reaction

-- name: answers
INSERT INTO idempotency (room_id, participant_id, route, key, fingerprint, status, answer, at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::smallint[], $7::bytea[],
                     $8::timestamptz[]) AS new

-- name: enrollments
INSERT INTO enrollments (code_hash, project, name, kind, role, expires_at)
SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[]) AS new

-- name: enrollments_ended
DELETE FROM enrollments USING unnest($1::bytea[]) AS ended (code_hash)
WHERE enrollments.code_hash = ended.code_hash

-- name: enrolled
INSERT INTO enrolled (project, name, kind, role, token_hash)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[]) AS new
ON CONFLICT (project, name) DO UPDATE SET token_hash = excluded.token_hash

-- name: removals
-- Retention: what lies before a room's first number goes, but for questions that nobody has answered and for messages
-- that a held claim points at. Those go with a later removal.
DELETE FROM events USING unnest($1::bigint[], $2::bigint[]) AS gone (room_id, first_seq)
WHERE events.room_id = gone.room_id AND events.seq < gone.first_seq
  AND NOT (events.kind IS NOT DISTINCT FROM 'question' AND NOT EXISTS (
      SELECT 1 FROM events reply WHERE reply.room_id = events.room_id AND reply.reply_to = events.seq))
  AND NOT EXISTS (
      SELECT 1 FROM claims WHERE claims.room_id = events.room_id AND claims.proposed_by_seq = events.seq)
RETURNING events.room_id, events.seq

-- name: removed_reactions
DELETE FROM reactions USING removals_ AS gone
WHERE reactions.room_id = gone.room_id AND reactions.message_id = gone.seq

-- name: removed_words
DELETE FROM words USING removals_ AS gone WHERE words.room_id = gone.room_id AND words.seq = gone.seq
