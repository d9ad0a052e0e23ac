"""gunicorn's settings for every WSGI service, from the environment (see wsgi in common.sh)."""

import os
import sys

bind = "127.0.0.1:" + os.environ["G_PORT"]
workers = int(os.environ["G_WORKERS"])
threads = int(os.environ["G_THREADS"])
worker_class = "gthread" if threads > 1 else "sync"
wsgi_app = os.environ["G_APP"]
timeout = 900
graceful_timeout = 5
keepalive = 75
limit_request_line = 0
limit_request_field_size = 0
backlog = 2048
control_socket_disable = True


def post_fork(server, worker):
    # oslo.config parses sys.argv when the application loads: give it the service's, not gunicorn's
    sys.argv[:] = os.environ["G_ARGV"].split()
