"""The ``stoker`` command."""
