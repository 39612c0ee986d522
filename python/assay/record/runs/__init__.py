"""Runs on record: how their steps and samples are kept, and how they are read as frozen values."""
