"""The seam to the engine: its calls, its sessions, and the processes that call Python modules."""
