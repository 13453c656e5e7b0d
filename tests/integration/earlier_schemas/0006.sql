SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.only_words(body text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '[^A-Za-z0-9\u0080-\U0010FFFF]+'::text, ' '::text, 'g'::text);
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.attendances (
    room_id bigint NOT NULL,
    membership_id bigint NOT NULL,
    joined_seq bigint NOT NULL,
    left_seq bigint
);
CREATE TABLE public.claims (
    room_id bigint NOT NULL,
    key text NOT NULL,
    membership_id bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    fence bigint NOT NULL,
    proposed_by_seq bigint
);
CREATE TABLE public.enrolled (
    project text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    role text NOT NULL,
    token_hash bytea
);
CREATE TABLE public.enrollments (
    code_hash bytea NOT NULL,
    project text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    role text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT enrollments_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'human'::text]))),
    CONSTRAINT enrollments_role_check CHECK ((role = ANY (ARRAY['agent'::text, 'human'::text, 'operator'::text])))
);
CREATE TABLE public.events (
    room_id bigint NOT NULL,
    seq bigint NOT NULL,
    type text NOT NULL,
    reason text,
    at timestamp with time zone NOT NULL,
    membership_id bigint NOT NULL,
    by_daemon boolean NOT NULL,
    kind text,
    body text,
    reply_to bigint,
    detail jsonb
);
CREATE TABLE public.idempotency (
    room_id bigint NOT NULL,
    participant_id bigint NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    answer bytea NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.indexed (
    room_id bigint NOT NULL,
    seq bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.journal (
    only_row boolean DEFAULT true NOT NULL,
    generation text DEFAULT replace((gen_random_uuid())::text, '-'::text, ''::text) NOT NULL,
    batch bigint DEFAULT 0 NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
    place text DEFAULT ''::text NOT NULL,
    CONSTRAINT journal_only_row_check CHECK (only_row)
)
WITH (fillfactor='10');
CREATE TABLE public.memberships (
    room_id bigint NOT NULL,
    id bigint NOT NULL,
    participant_id bigint NOT NULL,
    active boolean NOT NULL,
    cursor bigint NOT NULL,
    last_seen_seq bigint NOT NULL,
    last_seen_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE public.participants (
    id bigint NOT NULL,
    project text NOT NULL,
    conversation_id text NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    role text NOT NULL,
    active_room_id bigint,
    last_room_id bigint,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT participants_kind_check CHECK ((kind = ANY (ARRAY['agent'::text, 'human'::text]))),
    CONSTRAINT participants_role_check CHECK ((role = ANY (ARRAY['agent'::text, 'human'::text, 'operator'::text])))
)
WITH (fillfactor='80');
CREATE TABLE public.reactions (
    room_id bigint NOT NULL,
    message_id bigint NOT NULL,
    membership_id bigint NOT NULL,
    reaction text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.rooms (
    id bigint NOT NULL,
    project text NOT NULL,
    kind text NOT NULL,
    name text,
    slug text,
    pair bigint[],
    created_at timestamp with time zone NOT NULL,
    latest_seq bigint NOT NULL,
    first_seq bigint DEFAULT 1 NOT NULL,
    max_age_s bigint,
    max_events bigint,
    CONSTRAINT rooms_kind_check CHECK ((kind = ANY (ARRAY['room'::text, 'peer'::text, 'admin'::text])))
)
WITH (fillfactor='50');
CREATE TABLE public.statuses (
    room_id bigint NOT NULL,
    membership_id bigint NOT NULL,
    status text NOT NULL,
    since timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);
CREATE TABLE public.words (
    room_id bigint NOT NULL,
    seq bigint NOT NULL,
    words tsvector NOT NULL
);
INSERT INTO public.attendances VALUES (48328652209736007, 48328652209736008, 1, NULL);
INSERT INTO public.attendances VALUES (48328652209736007, 48328652542402321, 2, NULL);
INSERT INTO public.attendances VALUES (48328652209736007, 48328652696723794, 3, 11);
INSERT INTO public.attendances VALUES (48328654363530657, 48328654363530658, 0, NULL);
INSERT INTO public.attendances VALUES (48328654363530657, 48328654363530659, 0, NULL);
INSERT INTO public.claims VALUES (48328652209736007, 'the-draft', 48328652209736008, '2026-12-01 01:49:56.074+00', '2026-12-01 02:49:56.074+00', 10, NULL);
INSERT INTO public.events VALUES (48328652209736007, 1, 'member', 'joined', '2026-12-01 01:49:54.358+00', 48328652209736008, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48328652209736007, 2, 'member', 'joined', '2026-12-01 01:49:54.676+00', 48328652542402321, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48328652209736007, 3, 'member', 'joined', '2026-12-01 01:49:54.823+00', 48328652696723794, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48328652209736007, 4, 'message', NULL, '2026-12-01 01:49:54.902+00', 48328652209736008, false, 'question', 'Which port does the broker use?', NULL, NULL);
INSERT INTO public.events VALUES (48328652209736007, 5, 'message', NULL, '2026-12-01 01:49:54.962+00', 48328652542402321, false, 'answer', 'It''s 5672; see https://example.org/a_b-c?d=e#f and /etc/broker.conf \ ''quoted'' $1', 4, NULL);
INSERT INTO public.events VALUES (48328652209736007, 6, 'message', NULL, '2026-12-01 01:49:55.038+00', 48328652209736008, false, 'decision', 'Ünïcödé, 漢字, 🫖 and a tab	here', NULL, NULL);
INSERT INTO public.events VALUES (48328652209736007, 7, 'message', NULL, '2026-12-01 01:49:55.134+00', 48328652209736008, false, 'decision', 'a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f ', NULL, NULL);
INSERT INTO public.events VALUES (48328652209736007, 8, 'reaction', 'added', '2026-12-01 01:49:55.956+00', 48328652542402321, false, NULL, NULL, NULL, '{"reaction": "agree", "message_id": 4}');
INSERT INTO public.events VALUES (48328652209736007, 9, 'status', 'set', '2026-12-01 01:49:56.01+00', 48328652542402321, false, NULL, NULL, NULL, '{"since": "2026-12-01T01:49:56.010Z", "status": "reading", "expires_at": "2026-12-01T02:49:56.010Z"}');
INSERT INTO public.events VALUES (48328652209736007, 10, 'claim', 'claimed', '2026-12-01 01:49:56.074+00', 48328652209736008, false, NULL, NULL, NULL, '{"key": "the-draft", "fence": 10, "expires_at": "2026-12-01T02:49:56.074Z", "proposed_by_seq": null}');
INSERT INTO public.events VALUES (48328652209736007, 11, 'member', 'left', '2026-12-01 01:49:56.333+00', 48328652696723794, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48328654363530657, 1, 'message', NULL, '2026-12-01 01:49:56.507+00', 48328654363530658, false, 'note', 'just between us', NULL, NULL);
INSERT INTO public.idempotency VALUES (48328654363530657, 48328652209675310, 'sendMessage', 'noted', '\x325c960df718f50add9b4410de7f2873ce60ad5a0e09f9cd0dea4dc64fa0ce7b', 201, '\x7b226d657373616765223a7b226964223a312c22736571223a312c226b696e64223a226e6f7465222c22626f6479223a226a757374206265747765656e207573222c227265706c795f746f223a6e756c6c2c226174223a22323032362d31322d30315430313a34393a35362e3530375a222c22617574686f72223a7b226d656d626572736869705f6964223a226d656d6265725f303161786a6d7973777a356432222c22636f6e766572736174696f6e5f6964223a22616e6e222c226e616d65223a22616e6e222c226b696e64223a226167656e74227d2c227265706c795f746172676574223a6e756c6c2c227265616374696f6e73223a7b22636f756e7473223a7b7d7d7d2c226c61746573745f736571223a317d', '2026-12-01 01:49:56.507+00');
INSERT INTO public.indexed VALUES (48328652209736007, 11);
INSERT INTO public.journal VALUES (true, '7df5cc87f6d54041aee24e200f9ec32d', 15, 'vm, pid 10613, since 2026-12-01T01:49:53.122114Z', '7714146887564827376/00000001/16384/16397');
INSERT INTO public.memberships VALUES (48328652209736007, 48328652209736008, 48328652209675310, true, 1, 1, '2026-12-01 01:49:54.358+00', '2026-12-01 01:49:54.358+00');
INSERT INTO public.memberships VALUES (48328652209736007, 48328652542402321, 48328652542300433, true, 4, 7, '2026-12-01 01:49:56.272+00', '2026-12-01 01:49:54.676+00');
INSERT INTO public.memberships VALUES (48328652209736007, 48328652696723794, 48328652696517322, false, 3, 3, '2026-12-01 01:49:54.823+00', '2026-12-01 01:49:54.823+00');
INSERT INTO public.memberships VALUES (48328654363530657, 48328654363530658, 48328652209675310, true, 0, 0, '2026-12-01 01:49:56.412+00', '2026-12-01 01:49:56.412+00');
INSERT INTO public.memberships VALUES (48328654363530657, 48328654363530659, 48328652542300433, true, 0, 0, '2026-12-01 01:49:56.412+00', '2026-12-01 01:49:56.412+00');
INSERT INTO public.migrations VALUES (1, '0001_rooms.sql', 'b38a88888a6dbe552a7334fed038ccf1cbc6401557bf777851b0b2495c50467a', '2026-12-01 01:49:52.793005+00');
INSERT INTO public.migrations VALUES (2, '0002_identities.sql', '6d9a34039d4bf9cc6da9a0bd19eec84bc15cb3dbd06d8db74225bd9b626b27c5', '2026-12-01 01:49:52.908423+00');
INSERT INTO public.migrations VALUES (3, '0003_words.sql', 'bb832d220705651434b0b2bb200255e4f0ef584a1e64bdb44283b648c3b970a5', '2026-12-01 01:49:52.943777+00');
INSERT INTO public.migrations VALUES (4, '0004_questions.sql', '3f51311182db4e9327d79bfff4c19152c7c5f7e6cd0ae8c28519e7aeec128e78', '2026-12-01 01:49:52.961472+00');
INSERT INTO public.migrations VALUES (5, '0005_words_behind.sql', 'f2bdc9de0c17293e8d4bdf17518b47259db45b56d5a861626703280080e6d247', '2026-12-01 01:49:53.00624+00');
INSERT INTO public.migrations VALUES (6, '0006_places.sql', 'd7aee324cac5635e4f43884453a88c3857dc4b9299f094badc86e832b7e33abd', '2026-12-01 01:49:53.035817+00');
INSERT INTO public.participants VALUES (48328652209675310, 'default', 'ann', 'ann', 'agent', 'agent', 48328652209736007, 48328652209736007, '2026-12-01 01:49:54.358+00');
INSERT INTO public.participants VALUES (48328652542300433, 'default', 'bob', 'bob', 'agent', 'agent', 48328652209736007, 48328652209736007, '2026-12-01 01:49:54.676+00');
INSERT INTO public.participants VALUES (48328652696517322, 'default', 'cat', 'cat', 'agent', 'agent', NULL, 48328652209736007, '2026-12-01 01:49:54.823+00');
INSERT INTO public.reactions VALUES (48328652209736007, 4, 48328652542402321, 'agree', '2026-12-01 01:49:55.956+00');
INSERT INTO public.rooms VALUES (48328652209736007, 'default', 'room', 'plan', 'plan', NULL, '2026-12-01 01:49:54.358+00', 11, 1, NULL, NULL);
INSERT INTO public.rooms VALUES (48328654363530657, 'default', 'peer', NULL, NULL, '{48328652209675310,48328652542300433}', '2026-12-01 01:49:56.412+00', 1, 1, NULL, NULL);
INSERT INTO public.statuses VALUES (48328652209736007, 48328652542402321, 'reading', '2026-12-01 01:49:56.01+00', '2026-12-01 02:49:56.01+00');
INSERT INTO public.words VALUES (48328652209736007, 4, '''broker'':5 ''does'':3 ''port'':2 ''the'':4 ''use'':6 ''which'':1');
INSERT INTO public.words VALUES (48328652209736007, 5, '''1'':19 ''5672'':3 ''a'':8 ''and'':14 ''b'':9 ''broker'':16 ''c'':10 ''conf'':17 ''d'':11 ''e'':12 ''etc'':15 ''example'':6 ''f'':13 ''https'':5 ''it'':1 ''org'':7 ''quoted'':18 ''s'':2 ''see'':4');
INSERT INTO public.words VALUES (48328652209736007, 6, '''a'':5 ''and'':4 ''here'':7 ''tab'':6 ''ünïcödé'':1 ''漢字'':2 ''🫖'':3');
INSERT INTO public.words VALUES (48328652209736007, 7, '''a'':1,7,13,19,25,31,37,43,49,55,61,67,73,79,85,91,97,103,109,115 ''b'':2,8,14,20,26,32,38,44,50,56,62,68,74,80,86,92,98,104,110,116 ''c'':3,9,15,21,27,33,39,45,51,57,63,69,75,81,87,93,99,105,111,117 ''d'':4,10,16,22,28,34,40,46,52,58,64,70,76,82,88,94,100,106,112,118 ''e'':5,11,17,23,29,35,41,47,53,59,65,71,77,83,89,95,101,107,113,119 ''f'':6,12,18,24,30,36,42,48,54,60,66,72,78,84,90,96,102,108,114,120');
ALTER TABLE ONLY public.attendances
    ADD CONSTRAINT attendances_pkey PRIMARY KEY (room_id, membership_id, joined_seq);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (room_id, key);
ALTER TABLE ONLY public.enrolled
    ADD CONSTRAINT enrolled_pkey PRIMARY KEY (project, name);
ALTER TABLE ONLY public.enrollments
    ADD CONSTRAINT enrollments_pkey PRIMARY KEY (code_hash);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (room_id, seq);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (room_id, participant_id, route, key);
ALTER TABLE ONLY public.indexed
    ADD CONSTRAINT indexed_pkey PRIMARY KEY (room_id);
ALTER TABLE ONLY public.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (only_row);
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (room_id, id);
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_room_id_participant_id_key UNIQUE (room_id, participant_id);
ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.participants
    ADD CONSTRAINT participants_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.participants
    ADD CONSTRAINT participants_project_conversation_id_key UNIQUE (project, conversation_id);
ALTER TABLE ONLY public.reactions
    ADD CONSTRAINT reactions_pkey PRIMARY KEY (room_id, message_id, membership_id, reaction);
ALTER TABLE ONLY public.rooms
    ADD CONSTRAINT rooms_pair_key UNIQUE (pair);
ALTER TABLE ONLY public.rooms
    ADD CONSTRAINT rooms_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.rooms
    ADD CONSTRAINT rooms_project_slug_key UNIQUE (project, slug);
ALTER TABLE ONLY public.statuses
    ADD CONSTRAINT statuses_pkey PRIMARY KEY (room_id, membership_id);
ALTER TABLE ONLY public.words
    ADD CONSTRAINT words_pkey PRIMARY KEY (room_id, seq);
CREATE INDEX claims_by_deadline ON public.claims USING btree (expires_at);
CREATE INDEX enrollments_by_deadline ON public.enrollments USING btree (expires_at);
CREATE INDEX events_by_reply_to ON public.events USING btree (room_id, reply_to, seq) WHERE (reply_to IS NOT NULL);
CREATE INDEX idempotency_by_age ON public.idempotency USING brin (at);
CREATE INDEX memberships_of_participant ON public.memberships USING btree (participant_id);
CREATE INDEX participants_by_prefix ON public.participants USING btree (project, conversation_id text_pattern_ops);
CREATE INDEX questions ON public.events USING btree (room_id, seq) WHERE (kind = 'question'::text);
CREATE INDEX statuses_by_deadline ON public.statuses USING btree (expires_at);
CREATE INDEX words_by_word ON public.words USING gin (words);
