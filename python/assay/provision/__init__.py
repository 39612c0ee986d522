"""Takes a system and a storage; returns a `Deployment`: an address, what it is, and its
teardown."""
