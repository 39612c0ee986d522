"""What a storage implements, and which further abilities it may have."""
