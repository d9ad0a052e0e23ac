"""The documents of shares, their types, access rules and quotas."""
