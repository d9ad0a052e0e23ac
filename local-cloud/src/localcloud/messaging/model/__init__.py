"""The documents of queues, and the signatures of URLs."""
