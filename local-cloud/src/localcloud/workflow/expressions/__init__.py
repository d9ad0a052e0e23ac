"""Evaluation of users' expressions, in processes that can be killed."""
