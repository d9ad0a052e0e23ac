"""Proves that stacks were taken over completely: answers, plans, and objects in the cloud."""
