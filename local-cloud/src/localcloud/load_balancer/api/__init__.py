"""The load balancing API, one module for each kind of request."""
