"""Purges, copies, inspects and re-encrypts databases."""
