"""The object storage API, as OpenStack Swift answers it, over files and the store."""
