"""What servers share that are reached through the protocol of MongoDB."""
