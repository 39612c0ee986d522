"""What a dialect implements."""
