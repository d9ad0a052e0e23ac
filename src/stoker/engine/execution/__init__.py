"""Execution of plans: actions on single resources, with every commit that durability requires."""
