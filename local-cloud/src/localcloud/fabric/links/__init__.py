"""Networks between servers and to the world: links, filters, relays."""
