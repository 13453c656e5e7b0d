-- What Postgres takes for addresses, paths, tags and compounds it reads again from each of their parts: a minute for
-- 64 KiB of `a_a_a_…`, in which nobody could write. Letters and digits alone it reads in milliseconds, and a word is
-- found wherever it stands. Beyond ASCII it knows no such signs.
CREATE FUNCTION only_words(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '[^A-Za-z0-9\u0080-\U0010FFFF]+', ' ', 'g');

-- As before: the writer only appends to the pending list, which upkeep merges.
DROP INDEX events_by_word;
CREATE INDEX events_by_word ON events USING gin (to_tsvector('simple', only_words(body)))
    WITH (fastupdate = on, gin_pending_list_limit = 65536) WHERE type = 'message';
