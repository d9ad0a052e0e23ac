#!/bin/sh
# Sets the web application up and reports success only once it answers. Can be run again: a machine
# that goes down half way begins anew at its next boot.
set -eu

notify() {
    $NOTIFY --silent --show-error --fail --output /dev/null \
        --retry 60 --retry-delay 1 --retry-all-errors --data-binary "$1"
}
trap 'cat /var/log/web.log >&2 || true; notify "{\"status\": \"FAILURE\", \"reason\": \"setup stopped while $step\"}"' EXIT

step='adding the user'
# whoever went down in the middle of this has left locks behind that nobody holds any more
for file in passwd shadow group gshadow subuid subgid; do
    rm -f /etc/$file.lock
done
getent group web >/dev/null || groupadd --system web
getent passwd web >/dev/null || useradd --system --gid web --home-dir /srv/web web

step='installing the application'
mkdir -p /srv/web
cat > /srv/web/app.ini <<'CONFIG'
[web]
title = $TITLE
port = $PORT
secret = $SECRET
CONFIG

cat > /srv/web/app.py <<'APP'
"""A guest book: every visit is a row in a SQLite database."""

import configparser
import hashlib
import html
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

config = configparser.ConfigParser(interpolation=None)
config.read("/srv/web/app.ini")
settings = config["web"]


def visits(address):
    with sqlite3.connect("/srv/web/visits.db") as database:
        database.execute("CREATE TABLE IF NOT EXISTS visits (at TEXT, who TEXT)")
        who = hashlib.sha256((settings["secret"] + address).encode()).hexdigest()[:12]
        database.execute("INSERT INTO visits VALUES (datetime('now'), ?)", (who,))
        return database.execute("SELECT count(*) FROM visits").fetchone()[0]


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        title = html.escape(settings["title"])
        body = (
            f"<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n"
            f"<p>This page has been visited {visits(self.client_address[0])} times.</p>\n"
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", int(settings["port"])), Page).serve_forever()
APP

chown -R web /srv/web

# cloud-init runs what is in this directory at every boot; this one has passed that point already
mkdir -p /var/lib/cloud/scripts/per-boot
cat > /var/lib/cloud/scripts/per-boot/web <<'BOOT'
#!/bin/sh
setpriv --reuid web --regid web --clear-groups python3 /srv/web/app.py >/var/log/web.log 2>&1 &
BOOT
chmod +x /var/lib/cloud/scripts/per-boot/web

step='waiting for the application to answer'
/var/lib/cloud/scripts/per-boot/web

for attempt in $(seq 1000); do
    curl -sf "http://127.0.0.1:$PORT/" >/dev/null && break
    sleep 0.05
done
curl -sf "http://127.0.0.1:$PORT/" >/dev/null

trap - EXIT
notify '{"status": "SUCCESS", "reason": "the web application answers"}'
