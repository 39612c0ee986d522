"""Parts of a drive that are driven at the same time, each by a program behind a channel."""
