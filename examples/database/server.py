"""A database of texts by name, over HTTP: PUT, GET and DELETE /name; GET / lists the names."""

import json
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATH, PORT, RELEASE = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def ask(statement, *values):
    """The rows that a statement gives; it is on the disk when this returns."""
    with sqlite3.connect(PATH, timeout=10) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, text TEXT)")
        rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


class Database(BaseHTTPRequestHandler):
    """Answers one request."""

    def do_GET(self):
        """Answer an entry, or the names of all."""
        name = self.path.strip("/")
        if not name:
            names = [row[0] for row in ask("SELECT name FROM entries ORDER BY name")]
            self.answer(200, json.dumps({"release": RELEASE, "names": names}) + "\n")
            return
        rows = ask("SELECT text FROM entries WHERE name = ?", name)
        self.answer(200, rows[0][0]) if rows else self.answer(404, "")

    def do_PUT(self):
        """Keep an entry."""
        length = int(self.headers.get("Content-Length", 0))
        text = self.rfile.read(length).decode()
        ask("INSERT OR REPLACE INTO entries VALUES (?, ?)", self.path.strip("/"), text)
        self.answer(201, "")

    def do_DELETE(self):
        """Forget an entry."""
        ask("DELETE FROM entries WHERE name = ?", self.path.strip("/"))
        self.answer(204, "")

    def answer(self, status, text):
        """Send a text."""
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", PORT), Database).serve_forever()
