"""OS::Nova::Server, with a module for each stage of a server's life."""
