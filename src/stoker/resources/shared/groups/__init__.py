"""Groups of resources: members, batches, sizes."""
