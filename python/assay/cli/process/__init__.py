"""The process of a command: its environment and streams, the passwords it asks for, how it ends."""
