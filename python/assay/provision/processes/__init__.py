"""Starts processes, watches and ends them."""
