"""The limits of memory and processors for servers and clients, through control groups."""
