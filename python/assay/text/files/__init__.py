"""Reads and writes the files that people name: text, TOML, output."""
