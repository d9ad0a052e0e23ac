"""Tests of templates, written beside them in YAML."""
