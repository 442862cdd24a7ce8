-- People: several users in an organization, with roles, invitations and lost passwords; and who changed what.

-- Whoever could sign in before was an admin. The default is for processes of the version before, which name no role.
ALTER TABLE users
  ADD COLUMN role text NOT NULL DEFAULT 'admin',
  -- To the minute; null for a person who has not been seen since this was added.
  ADD COLUMN last_seen_at timestamptz,
  ADD CONSTRAINT users_role_check CHECK (role IN ('admin', 'viewer'));

ALTER TABLE sessions
  -- What a session is told apart by; the hash of its token opens it. The default is for processes of the version before.
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- From where it was begun, and with what.
  ADD COLUMN address text,
  ADD COLUMN user_agent text;
CREATE INDEX sessions_organization_id_user_id_idx ON sessions (organization_id, user_id);

-- A way into an organization that was given to an address and not used yet: whoever has the link gets an account.
CREATE TABLE invitations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- In lower case.
  email text NOT NULL,
  role text NOT NULL,
  -- SHA-256 of the token in the link.
  token_hash bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invitations_token_hash_key UNIQUE (token_hash),
  -- Who is invited again gets a new link, and the one before opens nothing any more.
  CONSTRAINT invitations_organization_id_email_key UNIQUE (organization_id, email),
  CONSTRAINT invitations_role_check CHECK (role IN ('admin', 'viewer')),
  CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
CREATE INDEX invitations_expires_at_idx ON invitations (expires_at);

-- A link with which somebody may set a new password without the old one, once.
CREATE TABLE password_resets (
  -- SHA-256 of the token in the link.
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CONSTRAINT password_resets_pkey PRIMARY KEY (token_hash),
  CONSTRAINT password_resets_organization_id_user_id_fkey
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX password_resets_organization_id_user_id_idx ON password_resets (organization_id, user_id);
CREATE INDEX password_resets_expires_at_idx ON password_resets (expires_at);

-- Who changed what, when and from where. What an entry names may be gone; so nothing here refers to it.
CREATE TABLE audit_entries (
  organization_id uuid NOT NULL,
  -- A UUIDv7, whose time is that of the change.
  id uuid NOT NULL,
  -- Such as plan.update.
  action text NOT NULL,
  resource_type text NOT NULL,
  -- Null where nothing came of the request, or that is not known.
  resource_id uuid,
  actor_type text NOT NULL,
  actor_id uuid,
  -- As it was then.
  actor_email text,
  address text,
  user_agent text,
  -- What was sent, without secrets.
  changes jsonb,
  -- False from before a change is made until it is known that it was. It stays so when the process dies in between.
  is_done boolean NOT NULL,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT audit_entries_actor_type_check CHECK (actor_type IN ('user', 'api_key', 'operator')),
  CONSTRAINT audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
CREATE INDEX audit_entries_organization_id_actor_id_idx ON audit_entries (organization_id, actor_id, id);
CREATE INDEX audit_entries_organization_id_resource_id_idx ON audit_entries (organization_id, resource_id, id);
CREATE INDEX audit_entries_organization_id_action_idx ON audit_entries (organization_id, action, id);
