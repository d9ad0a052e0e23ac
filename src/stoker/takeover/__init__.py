"""The take-over of a running Heat: its database is read, carried over, and proven equal."""
