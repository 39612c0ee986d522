"""Takes what belongs to one experiment; makes one file of it, a capsule, which says of itself
whether it was changed, and gives the experiment back."""
