"""What this machine has: programs, processes, ports, users, and what they use."""
