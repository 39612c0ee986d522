-- What the machine did in each second of a measurement while it passes.

-- JSON: as one of the machine_seconds of an observation; NULL: not known, or in the row of another group.
ALTER TABLE seconds ADD COLUMN machine TEXT;
