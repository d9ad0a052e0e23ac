"""The HTTP interfaces. Each sub-package is an application of its own."""
