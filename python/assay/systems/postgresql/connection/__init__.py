"""What libpq reads beside the URL of a server, and what a refusal of it means."""
