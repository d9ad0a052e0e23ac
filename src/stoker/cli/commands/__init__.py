"""The commands of ``stoker``: one module each, with the command under the name ``command``."""
