"""The registry of resource types, and declarations that types share."""
