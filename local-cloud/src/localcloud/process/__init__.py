"""One process of the cloud: its application, its addresses, and starting and stopping it."""
