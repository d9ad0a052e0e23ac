"""Real networks and servers of the local cloud, made of Linux namespaces without root."""
