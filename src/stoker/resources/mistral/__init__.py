"""Resource types of the workflow service."""
