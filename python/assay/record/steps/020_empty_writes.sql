-- Step 20: of the writes of a device, requests for a flush that carry no data, where they are counted.

ALTER TABLE samples ADD COLUMN device_empty_writes INTEGER;    -- since sampling began
