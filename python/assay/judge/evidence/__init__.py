"""The evidence by which a run is judged, and what is read from it."""
