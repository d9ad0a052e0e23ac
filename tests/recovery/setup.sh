#!/bin/sh
# Sets a server up; may be cut off at any point and begin again.
set -eu
echo "$TITLE begins" >>/srv/log
sleep $SECONDS
echo "$SECRET" >/srv/secret
mkdir -p /srv/page
echo "$NAME: $TITLE" >/srv/page/index.html

# what shall run after each boot
cat >/var/lib/cloud/scripts/per-boot/page <<'SCRIPT'
#!/bin/sh
cd /srv/page
python3 -m http.server 8080 >/dev/null 2>&1 &
SCRIPT
chmod +x /var/lib/cloud/scripts/per-boot/page
/var/lib/cloud/scripts/per-boot/page

sleep $SECONDS
until $NOTIFY -sf --max-time 5 -o /dev/null \
    --data-binary '{"status": "SUCCESS", "id": "$NAME", "data": "$TITLE"}'; do
    sleep 0.2
done
echo "$TITLE ends" >>/srv/log
