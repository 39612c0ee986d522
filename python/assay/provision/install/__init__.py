"""Brings the programs of systems under test into the user's cache folder, through the package
clients of this machine: no root, no change outside that folder.

A file for each package client (`debian_prefix`, `maven`, `go_module`, `python_wheel`), which a
system's ``install`` calls; `cache` has the folder, `install` the order of things.
"""
