-- A run has the checksum of its last event (checksums.ts) where it had a keyed hash.
UPDATE runs SET hash = e.hash FROM events e WHERE e.run = runs.key AND e.version = runs.version AND e.part = 0;
