"""The service and the local cloud as processes of this machine."""
