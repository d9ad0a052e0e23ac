"""The interfaces over HTTP. Each sub-package is an application of its own."""
