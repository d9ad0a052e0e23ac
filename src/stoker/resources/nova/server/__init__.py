"""OS::Nova::Server: a server, in one file for each thing that becomes of it."""
