"""What a workload file says of its tables: columns, keys, what they say of each other, views."""
