"""The fabric process, the servers that it runs, and the cloud's channel to it."""
