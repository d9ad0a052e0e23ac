"""Delivery of the messages in the outbox to the message bus and to queues."""
