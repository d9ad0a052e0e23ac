"""Resource types of the reservation service."""
