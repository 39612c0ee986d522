"""Folders, their sizes and copies, and the space that is left."""
