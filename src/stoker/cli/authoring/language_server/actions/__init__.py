"""Code actions: remedies of findings, conversions, and extraction of nested templates."""
