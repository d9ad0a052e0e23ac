"""Writes: many changes in one transaction, with the guards that each relies on."""
