-- Where the database was when a daemon last opened it: its server, timeline and copy. Empty: not known.
ALTER TABLE journal ADD COLUMN place text NOT NULL DEFAULT '';
