#!/bin/sh
# Starts the database on the volume, now and at every boot.
set -eu

cat > /usr/local/bin/database <<'PROGRAM'
$program
PROGRAM

# cloud-init runs what is in this directory at every boot; this one has passed that point already
mkdir -p /var/lib/cloud/scripts/per-boot
cat > /var/lib/cloud/scripts/per-boot/database <<'BOOT'
#!/bin/sh
set -eu
id=$(echo "$volume" | cut -c -20)
disk=/dev/disk/by-id/virtio-$id
# after a replacement of the server, the volume arrives once the old server has released it
echo "waiting for $disk"
until [ -e "$disk" ]; do sleep 0.2; done

blkid "$disk" || mkfs.ext4 "$disk"
mkdir -p /srv/database
mountpoint -q /srv/database || mount "$disk" /srv/database
python3 /usr/local/bin/database /srv/database/entries.sqlite $port $release > /var/log/database.log 2>&1 &
BOOT
chmod +x /var/lib/cloud/scripts/per-boot/database
/var/lib/cloud/scripts/per-boot/database

until curl -sf http://localhost:$port/ > /dev/null; do sleep 0.2; done
$notify --data-binary '{"status": "SUCCESS", "reason": "the database answers"}'
