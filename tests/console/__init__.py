"""The console: its sessions, its files, and its page."""
