"""Who sends a request, what they may do, and on whose behalf the service works afterwards."""
