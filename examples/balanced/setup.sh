#!/bin/sh
# Serves a page with the name of the server, and reports when it does. Can be run again.
set -eu

mkdir -p /srv/web
echo "Hello from $(hostname)" > /srv/web/index.html

# cloud-init runs what is in this directory at every boot; this one has passed that point already
mkdir -p /var/lib/cloud/scripts/per-boot
cat > /var/lib/cloud/scripts/per-boot/web <<'BOOT'
#!/bin/sh
python3 -m http.server --directory /srv/web 8080 >/var/log/web.log 2>&1 &
echo $! > /run/web.pid
BOOT
chmod +x /var/lib/cloud/scripts/per-boot/web
/var/lib/cloud/scripts/per-boot/web

for attempt in $(seq 1000); do
    curl -sf http://127.0.0.1:8080/ >/dev/null && break
    sleep 0.05
done
curl -sf http://127.0.0.1:8080/ >/dev/null

$NOTIFY --silent --show-error --fail --output /dev/null \
    --retry 60 --retry-delay 1 --retry-all-errors \
    --data-binary '{"status": "SUCCESS", "reason": "the application answers"}'
