"""The language server: editors ask it for findings, completions and changes of templates."""
