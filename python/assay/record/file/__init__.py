"""The record file: how it is opened and locked, its tables and views, and what may be wrong with
it."""
