"""Named things of templates: where they are declared, and where they are used."""
