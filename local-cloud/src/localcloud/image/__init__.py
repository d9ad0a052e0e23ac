"""The image API: the images that servers are made from."""
