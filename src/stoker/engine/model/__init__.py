"""What the engine works on and with: rows, requests, views, and the interfaces that it needs."""
