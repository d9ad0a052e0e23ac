"""The documents of load balancers and their parts, and how they change."""
