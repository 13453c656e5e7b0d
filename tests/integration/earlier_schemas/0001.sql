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
CREATE TABLE public.journal (
    only_row boolean DEFAULT true NOT NULL,
    generation text DEFAULT replace((gen_random_uuid())::text, '-'::text, ''::text) NOT NULL,
    batch bigint DEFAULT 0 NOT NULL,
    owner text DEFAULT ''::text NOT NULL,
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
INSERT INTO public.attendances VALUES (48323281349771503, 48323281349794974, 1, NULL);
INSERT INTO public.attendances VALUES (48323281349771503, 48323281411176592, 2, NULL);
INSERT INTO public.attendances VALUES (48323281349771503, 48323281436456073, 3, 11);
INSERT INTO public.claims VALUES (48323281349771503, 'the-draft', 48323281349794974, '2026-12-01 00:24:32.536+00', '2026-12-01 01:24:32.536+00', 10, NULL);
INSERT INTO public.events VALUES (48323281349771503, 1, 'member', 'joined', '2026-12-01 00:24:32.307+00', 48323281349794974, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48323281349771503, 2, 'member', 'joined', '2026-12-01 00:24:32.366+00', 48323281411176592, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48323281349771503, 3, 'member', 'joined', '2026-12-01 00:24:32.39+00', 48323281436456073, false, NULL, NULL, NULL, NULL);
INSERT INTO public.events VALUES (48323281349771503, 4, 'message', NULL, '2026-12-01 00:24:32.402+00', 48323281349794974, false, 'question', 'Which port does the broker use?', NULL, NULL);
INSERT INTO public.events VALUES (48323281349771503, 5, 'message', NULL, '2026-12-01 00:24:32.418+00', 48323281411176592, false, 'answer', 'It''s 5672; see https://example.org/a_b-c?d=e#f and /etc/broker.conf \ ''quoted'' $1', 4, NULL);
INSERT INTO public.events VALUES (48323281349771503, 6, 'message', NULL, '2026-12-01 00:24:32.432+00', 48323281349794974, false, 'decision', 'Ünïcödé, 漢字, 🫖 and a tab	here', NULL, NULL);
INSERT INTO public.events VALUES (48323281349771503, 7, 'message', NULL, '2026-12-01 00:24:32.445+00', 48323281349794974, false, 'decision', 'a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f a_b_c_d_e_f ', NULL, NULL);
INSERT INTO public.events VALUES (48323281349771503, 8, 'reaction', 'added', '2026-12-01 00:24:32.509+00', 48323281411176592, false, NULL, NULL, NULL, '{"reaction": "agree", "message_id": 4}');
INSERT INTO public.events VALUES (48323281349771503, 9, 'status', 'set', '2026-12-01 00:24:32.523+00', 48323281411176592, false, NULL, NULL, NULL, '{"since": "2026-12-01T00:24:32.523Z", "status": "reading", "expires_at": "2026-12-01T01:24:32.523Z"}');
INSERT INTO public.events VALUES (48323281349771503, 10, 'claim', 'claimed', '2026-12-01 00:24:32.536+00', 48323281349794974, false, NULL, NULL, NULL, '{"key": "the-draft", "fence": 10, "expires_at": "2026-12-01T01:24:32.536Z", "proposed_by_seq": null}');
INSERT INTO public.events VALUES (48323281349771503, 11, 'member', 'left', '2026-12-01 00:24:32.563+00', 48323281436456073, false, NULL, NULL, NULL, NULL);
INSERT INTO public.journal VALUES (true, '65441bcd56ad4159be6962510f0cfe54', 12, 'vm, pid 8227, since 2026-12-01T00:24:32.178984Z');
INSERT INTO public.memberships VALUES (48323281349771503, 48323281349794974, 48323281349771502, true, 1, 1, '2026-12-01 00:24:32.307+00', '2026-12-01 00:24:32.307+00');
INSERT INTO public.memberships VALUES (48323281349771503, 48323281411176592, 48323281410894050, true, 4, 7, '2026-12-01 00:24:32.555+00', '2026-12-01 00:24:32.366+00');
INSERT INTO public.memberships VALUES (48323281349771503, 48323281436456073, 48323281436039349, false, 3, 3, '2026-12-01 00:24:32.39+00', '2026-12-01 00:24:32.39+00');
INSERT INTO public.migrations VALUES (1, '0001_rooms.sql', 'b38a88888a6dbe552a7334fed038ccf1cbc6401557bf777851b0b2495c50467a', '2026-12-01 00:24:32.175326+00');
INSERT INTO public.participants VALUES (48323281349771502, 'default', 'ann', 'ann', 'agent', 'agent', 48323281349771503, 48323281349771503, '2026-12-01 00:24:32.307+00');
INSERT INTO public.participants VALUES (48323281410894050, 'default', 'bob', 'bob', 'agent', 'agent', 48323281349771503, 48323281349771503, '2026-12-01 00:24:32.366+00');
INSERT INTO public.participants VALUES (48323281436039349, 'default', 'cat', 'cat', 'agent', 'agent', NULL, 48323281349771503, '2026-12-01 00:24:32.39+00');
INSERT INTO public.reactions VALUES (48323281349771503, 4, 48323281411176592, 'agree', '2026-12-01 00:24:32.509+00');
INSERT INTO public.rooms VALUES (48323281349771503, 'default', 'room', 'plan', 'plan', NULL, '2026-12-01 00:24:32.307+00', 11, 1, NULL, NULL);
INSERT INTO public.statuses VALUES (48323281349771503, 48323281411176592, 'reading', '2026-12-01 00:24:32.523+00', '2026-12-01 01:24:32.523+00');
ALTER TABLE ONLY public.attendances
    ADD CONSTRAINT attendances_pkey PRIMARY KEY (room_id, membership_id, joined_seq);
ALTER TABLE ONLY public.claims
    ADD CONSTRAINT claims_pkey PRIMARY KEY (room_id, key);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (room_id, seq);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (room_id, participant_id, route, key);
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
CREATE INDEX claims_by_deadline ON public.claims USING btree (expires_at);
CREATE INDEX events_by_reply_to ON public.events USING btree (room_id, reply_to, seq) WHERE (reply_to IS NOT NULL);
CREATE INDEX idempotency_by_age ON public.idempotency USING brin (at);
CREATE INDEX memberships_of_participant ON public.memberships USING btree (participant_id);
CREATE INDEX statuses_by_deadline ON public.statuses USING btree (expires_at);
