"""The store as the engine sees it: Protocols, changes, and reads inside a transaction."""
