"""Resources and their dependencies as a tree, Mermaid, DOT and SVG."""
