-- Runs that were measured again.

-- The repetition of the same cell that this run repeats with the same seed, since other programs disturbed that one; NULL: none.
ALTER TABLE runs ADD COLUMN in_place_of INTEGER;
