"""Load balancing: Octavia's API, and balancers that carry traffic to real servers."""
