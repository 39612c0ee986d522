"""What must be undone on this machine: written down before it is made, undone at the end or after a
crash."""
