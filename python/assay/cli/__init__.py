"""One file per command: parses, calls `lab`, `record` or `report`, prints; decides nothing."""
