"""What steps report that do not only drive clients."""
