"""The DNS service: the API of Designate, version 2, and a name server."""
