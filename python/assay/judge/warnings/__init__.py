"""Takes runs; returns their warnings, the ways in which they can mislead."""
