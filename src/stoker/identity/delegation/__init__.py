"""Work on behalf of users: trusts, passwords, and users for resources."""
