"""Who drives which stack."""
