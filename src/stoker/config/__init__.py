"""The configuration: options, the files that set them, and what is wrong with these."""
