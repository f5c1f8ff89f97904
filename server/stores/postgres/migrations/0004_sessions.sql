-- Sessions of other gyms' clients: a task, and the state that each call replaces. "version" counts replacements.
CREATE TABLE IF NOT EXISTS sessions (
  id text COLLATE "C" PRIMARY KEY,
  caller bytea NOT NULL,
  used_at timestamptz NOT NULL,
  version int8 NOT NULL,
  task bytea NOT NULL,
  state bytea NOT NULL
);

CREATE INDEX IF NOT EXISTS sessions_of_caller ON sessions (caller, used_at);

CREATE INDEX IF NOT EXISTS sessions_by_time ON sessions (used_at);
