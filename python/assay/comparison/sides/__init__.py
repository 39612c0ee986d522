"""The two sides of a comparison: their cells and factors, and what is not the same on both."""
