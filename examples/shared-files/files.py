"""The files of a directory over HTTP: PUT and GET /name; GET / lists the names."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DIRECTORY, PORT = Path(sys.argv[1]), int(sys.argv[2])


class Files(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_GET(self):
        """Answer a file, or the names of all."""
        name = self.path.strip("/")
        try:
            if not name:
                names = sorted(path.name for path in DIRECTORY.iterdir())
                self.answer(200, json.dumps(names).encode() + b"\n")
            elif "/" in name:
                self.answer(404, b"")
            else:
                self.answer(200, (DIRECTORY / name).read_bytes())
        except FileNotFoundError:
            self.answer(404, b"")
        except OSError as error:
            self.answer(503, f"{error.strerror}\n".encode())

    def do_PUT(self):
        """Keep a file."""
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        name = self.path.strip("/")
        try:
            if not name or "/" in name:
                self.answer(404, b"")
                return
            (DIRECTORY / name).write_bytes(content)
            self.answer(201, b"")
        except OSError as error:
            self.answer(503, f"{error.strerror}\n".encode())

    def answer(self, status, body):
        """Send a content."""
        self.send_response(status)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", PORT), Files).serve_forever()
