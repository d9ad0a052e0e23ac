"""The types of resources, one folder for each service, one file for each type."""
