"""Which engine works on which stack."""
