"""What servers, their programs and the engine may reach while they do the work of others."""
