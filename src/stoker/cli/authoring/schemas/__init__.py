"""JSON Schemas of templates, environments and test files, for editors."""
