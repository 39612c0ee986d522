"""What clients read beside the URL of a server, and what a refusal of it means."""
