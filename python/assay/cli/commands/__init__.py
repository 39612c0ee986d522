"""The commands: one file each, which parses, calls a room, prints, and decides nothing."""
