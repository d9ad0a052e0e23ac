#!/bin/sh
# Starts the database on the volume, which comes to this server once the old one has let go of it.
set -eu
id=$(echo "$volume" | cut -c -20)
disk=/dev/disk/by-id/virtio-$id
echo "waiting for $disk"
until [ -e "$disk" ]; do sleep 0.2; done

blkid "$disk" || mkfs.ext4 "$disk"
mkdir -p /srv/database
mount "$disk" /srv/database

cat > /usr/local/bin/database <<'PROGRAM'
$program
PROGRAM
python3 /usr/local/bin/database /srv/database/entries.sqlite $port $release > /var/log/database.log 2>&1 &

until curl -sf http://localhost:$port/ > /dev/null; do sleep 0.2; done
$notify --data-binary '{"status": "SUCCESS", "reason": "the database answers"}'
