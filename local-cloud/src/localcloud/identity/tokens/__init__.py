"""Authentication, and the rights of a token."""
