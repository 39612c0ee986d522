"""What a system under test implements, and which further abilities it may have."""
