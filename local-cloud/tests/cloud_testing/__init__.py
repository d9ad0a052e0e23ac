"""What the tests of the local cloud share."""
