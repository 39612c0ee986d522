"""Options and arguments of commands: declared, completed by the Tab key, and refused with a
hint."""
