"""The HTTP API of shared file systems; loaded when somebody asks for it."""
