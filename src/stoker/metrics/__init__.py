"""What the service counts about itself, and the form in which Prometheus reads it."""
