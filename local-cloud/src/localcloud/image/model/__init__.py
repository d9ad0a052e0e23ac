"""The documents, data and sources of images."""
