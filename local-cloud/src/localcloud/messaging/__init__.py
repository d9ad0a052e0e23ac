"""The messaging service: the API of Zaqar, version 2."""
