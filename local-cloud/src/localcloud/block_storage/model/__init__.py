"""The documents of volumes, their types and quotas."""
