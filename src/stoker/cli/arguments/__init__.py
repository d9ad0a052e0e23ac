"""Arguments of commands: options, files, names of stacks and resources, and their completion."""
