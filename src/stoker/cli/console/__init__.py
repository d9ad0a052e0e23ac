"""Input and output of commands: options, messages, errors."""
