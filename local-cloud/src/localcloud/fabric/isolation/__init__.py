"""The isolation of servers: namespaces, ids, system calls, file access."""
