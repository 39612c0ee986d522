"""What rooms hand to one another, and what systems, storages and dialects implement: values and
protocols, and nothing that acts."""
