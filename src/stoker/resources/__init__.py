"""Resource types: a package for each service, a file for each type."""
