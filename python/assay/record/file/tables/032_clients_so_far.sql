-- What all clients have done and cost so far, while they work.

-- JSON: as so_far of the engine's progress, of all processes that drive them together; 'null': nothing is known yet. Where one
-- process drives all clients, document is '[]'.
ALTER TABLE generators_at_work ADD COLUMN clients TEXT NOT NULL DEFAULT 'null';
