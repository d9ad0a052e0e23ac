"""How messages leave: what commits have left in the outbox goes to the bus and to queues."""
