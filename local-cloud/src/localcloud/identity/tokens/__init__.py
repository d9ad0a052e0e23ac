"""Authentication, and what a token permits."""
