-- What is read. Every statement about a room names its room_id.

-- name: room
SELECT id, project, kind, name, slug, created_at, latest_seq, first_seq, max_age_s, max_events, version
FROM rooms WHERE id = $1

-- name: room_members
SELECT m.id, m.participant_id, m.active, m.cursor, m.last_seen_seq, m.last_seen_at, m.created_at,
       p.conversation_id, p.kind
FROM memberships m JOIN participants p ON p.id = m.participant_id
WHERE m.room_id = $1 ORDER BY m.id

-- name: room_statuses
SELECT membership_id, status, since, expires_at FROM statuses WHERE room_id = $1

-- name: room_claims
SELECT key, membership_id, since, expires_at, fence, proposed_by_seq FROM claims WHERE room_id = $1

-- name: room_versions
SELECT id, version FROM rooms WHERE id = ANY($1::bigint[])

-- name: room_as_one_sees_it
-- A room's version, and how far the participant has come who calls.
SELECT r.version, m.id, m.cursor, m.last_seen_seq, m.last_seen_at
FROM rooms r LEFT JOIN memberships m ON m.room_id = r.id AND m.participant_id = $2
WHERE r.id = $1

-- name: caller
-- The version of who is enrolled, and the participant who calls, if there is one.
SELECT i.version, p.id, p.project, p.conversation_id, p.kind, p.role, p.active_room_id, p.last_room_id
FROM identities i LEFT JOIN participants p ON p.project = $1 AND p.conversation_id = $2

-- name: room_positions
SELECT id, cursor, last_seen_seq, last_seen_at FROM memberships WHERE room_id = $1

-- name: room_since
-- A room with what has changed after number $2: its last $3 events since, and of its members those that came or left
-- since, or all with $4. One statement is one snapshot and one round trip.
SELECT latest_seq, first_seq, max_age_s, max_events, version,
       ARRAY(SELECT ROW(m.id, m.participant_id, m.active, m.cursor, m.last_seen_seq, m.last_seen_at, m.created_at,
                        p.conversation_id, p.kind)
             FROM memberships m JOIN participants p ON p.id = m.participant_id
             WHERE m.room_id = $1 AND ($4 OR m.id IN (
                 SELECT membership_id FROM events WHERE room_id = $1 AND seq > $2 AND type = 'member'))) AS members,
       ARRAY(SELECT ROW(membership_id, status, since, expires_at) FROM statuses WHERE room_id = $1) AS statuses,
       ARRAY(SELECT ROW(key, membership_id, since, expires_at, fence, proposed_by_seq)
             FROM claims WHERE room_id = $1) AS claims,
       ARRAY(SELECT ROW(seq, type, reason, at, membership_id, by_daemon, kind, body, reply_to, detail::text)
             FROM (SELECT * FROM events WHERE room_id = $1 AND seq > $2 ORDER BY seq DESC LIMIT $3) newest
             ORDER BY seq) AS events
FROM rooms WHERE id = $1

-- name: room_of_slug
SELECT id FROM rooms WHERE project = $1 AND slug = $2

-- name: room_of_pair
SELECT id FROM rooms WHERE pair = $1

-- name: near_slugs
-- Slugs that a misspelt one may have meant, the newest first; likeness is judged by the caller.
SELECT slug FROM rooms
WHERE project = $1 AND kind = 'room' AND left(slug, 1) = left($2, 1)
  AND length(slug) BETWEEN length($2) - 3 AND length($2) + 3
ORDER BY id DESC LIMIT 200

-- name: near_participants
SELECT conversation_id FROM participants
WHERE project = $1 AND left(conversation_id, 1) = left($2, 1)
  AND length(conversation_id) BETWEEN length($2) - 3 AND length($2) + 3
ORDER BY id DESC LIMIT 200

-- name: rooms
SELECT id, project, kind, name, slug, created_at, latest_seq, first_seq, max_age_s, max_events,
       (SELECT count(*) FROM memberships m WHERE m.room_id = rooms.id AND m.active) AS active_members
FROM rooms
WHERE project = $1 AND kind = 'room' AND id > $2
  AND (NOT $3 OR EXISTS (SELECT 1 FROM memberships m WHERE m.room_id = rooms.id AND m.active))
ORDER BY id LIMIT $4

-- name: participant
SELECT id, project, conversation_id, kind, role, active_room_id, last_room_id
FROM participants WHERE project = $1 AND conversation_id = $2

-- name: participants
SELECT p.id, p.project, p.conversation_id, p.kind, p.role, p.active_room_id, p.last_room_id, r.slug
FROM participants p LEFT JOIN rooms r ON r.id = p.active_room_id
WHERE p.project = $1 AND p.id > $2 ORDER BY p.id LIMIT $3

-- name: participant_id
SELECT id FROM participants WHERE project = $1 AND conversation_id = $2

-- name: conversations
SELECT r.id FROM memberships m JOIN rooms r ON r.id = m.room_id
WHERE m.participant_id = $1 AND r.kind <> 'room' AND r.id > $2
ORDER BY r.id LIMIT $3

-- name: page
-- At most $3 rows, and no more once $4 bytes of bodies are reached, but one at least. `found` counts the rows up
-- to one beyond $3, so it is larger than the page when there are more. A body's size is known without reading it.
-- Which events the page is of is put in by history.py.
SELECT * FROM (
    SELECT seq, type, reason, at, membership_id, by_daemon, kind, body, reply_to, detail,
           count(*) OVER () AS found,
           sum(coalesce(octet_length(body), 0)) OVER (ORDER BY seq) - coalesce(octet_length(body), 0) AS bytes_before
    FROM (SELECT * FROM events WHERE room_id = $1 AND seq > $2 AND {wanted} ORDER BY seq LIMIT $3 + 1) rows
) page
WHERE bytes_before < $4 ORDER BY seq LIMIT $3

-- name: messages_at
SELECT seq, type, reason, at, membership_id, by_daemon, kind, body, reply_to, detail
FROM events WHERE room_id = $1 AND seq = ANY($2::bigint[]) AND type = 'message'

-- name: count_messages_by_others
SELECT count(*) FROM events
WHERE room_id = $1 AND seq > $2 AND seq <= $3 AND type = 'message' AND membership_id <> $4

-- name: wakers
-- The first ten numbers that end a wait: types ($4), anything that ran out ($5), replies to ($6); never one's own ($3).
SELECT seq FROM events
WHERE room_id = $1 AND seq > $2 AND (by_daemon OR membership_id <> $3)
  AND (type = ANY($4::text[]) OR ($5 AND reason = 'expired') OR reply_to = ANY($6::bigint[]))
ORDER BY seq LIMIT 10

-- name: reactions
SELECT message_id, membership_id, reaction, at FROM reactions
WHERE room_id = $1 AND message_id = ANY($2::bigint[]) ORDER BY message_id, at, membership_id, reaction

-- name: attending
SELECT membership_id FROM attendances
WHERE room_id = $1 AND joined_seq < $2 AND (left_seq IS NULL OR left_seq > $2)

-- name: acknowledgements
SELECT membership_id, at FROM reactions WHERE room_id = $1 AND message_id = $2 AND reaction = 'ack'

-- name: first_replies
SELECT DISTINCT ON (membership_id) membership_id, seq FROM events
WHERE room_id = $1 AND reply_to = $2 ORDER BY membership_id, seq

-- name: kept_answers
SELECT i.room_id, i.participant_id, i.route, i.key, i.fingerprint, i.status, i.answer
FROM idempotency i
JOIN unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS asked (room_id, participant_id, route, key)
  USING (room_id, participant_id, route, key)

-- name: deadlines
-- What runs out by a moment, for rooms loaded or not.
SELECT room_id, expires_at FROM statuses WHERE expires_at <= $1
UNION ALL
SELECT room_id, expires_at FROM claims WHERE expires_at <= $1

-- name: forget_answers
WITH forgotten AS (
    DELETE FROM idempotency WHERE (room_id, participant_id, route, key) IN (
        SELECT room_id, participant_id, route, key FROM idempotency WHERE at < $1 LIMIT $2
    ) RETURNING 1
)
SELECT count(*) FROM forgotten

-- name: enrollments
SELECT code_hash, project, name, kind, role, expires_at FROM enrollments
WHERE code_hash = ANY($1::bytea[])

-- name: enrolled
SELECT project, name, kind, role, token_hash FROM enrolled

-- name: is_used
-- Whether somebody acts, or has acted, under a name or below it; $3 is the name with LIKE's signs escaped.
SELECT EXISTS (
    SELECT 1 FROM participants
    WHERE project = $1 AND (conversation_id = $2 OR conversation_id LIKE $3 || '/%')
)

-- name: conversations_of_project
SELECT id FROM rooms WHERE project = $1 AND kind <> 'room' AND id > $2 ORDER BY id LIMIT $3

-- name: forget_offers
WITH forgotten AS (
    DELETE FROM enrollments WHERE code_hash IN (
        SELECT code_hash FROM enrollments WHERE expires_at < $1 LIMIT $2
    ) RETURNING 1
)
SELECT count(*) FROM forgotten

-- name: over_policy
-- Rooms that keep more than their policy, or the default ($1 age in seconds, $2 events; 0 keeps all), allows at $3:
-- where their log should begin, and rooms that have been cut before, whose kept messages may have become free to go.
SELECT r.id, greatest(r.first_seq, r.latest_seq - limits.events + 1, aged.seq) AS first_seq
FROM rooms r
CROSS JOIN LATERAL (
    SELECT coalesce(r.max_age_s, nullif($1::bigint, 0)) AS age_s,
           coalesce(r.max_events, nullif($2::bigint, 0)) AS events
) limits
LEFT JOIN LATERAL (
    SELECT e.seq FROM events e
    WHERE e.room_id = r.id AND e.seq >= r.first_seq
      AND e.at >= $3::timestamptz - make_interval(secs => limits.age_s)
    ORDER BY e.seq LIMIT 1
) young ON limits.age_s IS NOT NULL
CROSS JOIN LATERAL (
    SELECT CASE WHEN limits.age_s IS NOT NULL THEN coalesce(young.seq, r.latest_seq) END AS seq
) aged
WHERE (limits.age_s IS NOT NULL OR limits.events IS NOT NULL)
  AND (r.first_seq > 1 OR r.latest_seq - limits.events + 1 > r.first_seq OR aged.seq > r.first_seq)

-- name: search
-- The newest messages that have all the words, in rooms of $2, or with $3 in every room of the project too. Of the
-- rooms of $6 the newest messages are not in the index yet: their words are read here.
SELECT e.room_id, e.seq, e.type, e.reason, e.at, e.membership_id, e.by_daemon, e.kind, e.body, e.reply_to, e.detail
FROM (SELECT room_id, seq FROM words WHERE words @@ plainto_tsquery('simple', only_words($4))
      UNION ALL
      SELECT room_id, m.seq
      FROM unnest($6::bigint[]) AS behind (room_id) LEFT JOIN indexed USING (room_id)
           JOIN events m USING (room_id)
      WHERE m.seq > coalesce(indexed.seq, 0) AND m.type = 'message'
        AND to_tsvector('simple', only_words(m.body)) @@ plainto_tsquery('simple', only_words($4))) AS found
     JOIN events e USING (room_id, seq) JOIN rooms r ON r.id = e.room_id
WHERE e.room_id = ANY($2::bigint[]) OR ($3 AND r.project = $1 AND r.kind = 'room')
ORDER BY e.at DESC, e.seq DESC LIMIT $5

-- name: recent_rooms
-- Rooms that somebody is active in, and the newest of the others.
(SELECT id FROM rooms
 WHERE project = $1 AND kind = 'room'
   AND EXISTS (SELECT 1 FROM memberships m WHERE m.room_id = rooms.id AND m.active)
 ORDER BY id DESC LIMIT $2)
UNION
(SELECT id FROM rooms WHERE project = $1 AND kind = 'room' ORDER BY id DESC LIMIT $3)

-- name: recent_conversations
SELECT id FROM rooms WHERE project = $1 AND kind <> 'room' ORDER BY id DESC LIMIT $2

-- name: open_questions
-- The newest messages of a kind that asks which nobody has replied to; `found` counts them all.
SELECT q.seq, q.at, q.membership_id, left(q.body, 400) AS body, count(*) OVER () AS found
FROM events q
WHERE q.room_id = $1 AND q.kind = 'question'
  AND NOT EXISTS (SELECT 1 FROM events r WHERE r.room_id = $1 AND r.reply_to = q.seq)
ORDER BY q.seq DESC LIMIT $2

-- name: last_message
SELECT seq, at, membership_id, kind, left(body, 400) AS body FROM events
WHERE room_id = $1 AND type = 'message' ORDER BY seq DESC LIMIT 1

-- name: count_unread
-- Messages after a number that none of $3 wrote, as far as $4.
SELECT count(*) FROM (
    SELECT 1 FROM events
    WHERE room_id = $1 AND seq > $2 AND type = 'message' AND membership_id <> ALL($3::bigint[])
    LIMIT $4
) unread

-- name: unindexed
SELECT id FROM rooms LEFT JOIN indexed ON room_id = id WHERE latest_seq > coalesce(seq, 0)

-- name: index_words
-- Of the next $2 events of a room; how many there were.
WITH fresh AS MATERIALIZED (
    SELECT seq, type, body FROM events
    WHERE room_id = $1 AND seq > coalesce((SELECT seq FROM indexed WHERE room_id = $1), 0)
    ORDER BY seq LIMIT $2
), words_ AS (
    INSERT INTO words
    SELECT $1, seq, to_tsvector('simple', only_words(body)) FROM fresh WHERE type = 'message'
), reached AS (
    INSERT INTO indexed SELECT $1, max(seq) FROM fresh HAVING count(*) > 0
    ON CONFLICT (room_id) DO UPDATE SET seq = excluded.seq
)
SELECT count(*) FROM fresh
