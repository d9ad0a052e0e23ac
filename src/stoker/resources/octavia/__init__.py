"""Resource types of the load balancer service."""
