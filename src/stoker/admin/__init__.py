"""Work of operators on a database or on policy files, without a running service."""
