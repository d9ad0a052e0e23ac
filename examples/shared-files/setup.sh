#!/bin/sh
# Mounts the share, now and at every boot, and serves what is in it. Can be run again.
set -eu
report() {
    $NOTIFY --silent --show-error --fail --output /dev/null \
        --retry 60 --retry-delay 1 --retry-all-errors \
        --data-binary "{\"status\": \"$1\", \"reason\": \"$2\"}"
}
trap 'report FAILURE "the files are not served"' EXIT

mkdir -p /srv/files
grep -q /srv/files /etc/fstab || echo "$SOURCE /srv/files nfs defaults,_netdev 0 0" >> /etc/fstab
mountpoint -q /srv/files || mount -t nfs "$SOURCE" /srv/files

cat > /usr/local/bin/files <<'FILES'
$PROGRAM
FILES

# cloud-init runs what is in this directory at every boot; this one has passed that point already
mkdir -p /var/lib/cloud/scripts/per-boot
cat > /var/lib/cloud/scripts/per-boot/files <<'BOOT'
#!/bin/sh
python3 /usr/local/bin/files /srv/files $PORT >/var/log/files.log 2>&1 &
BOOT
chmod +x /var/lib/cloud/scripts/per-boot/files
/var/lib/cloud/scripts/per-boot/files

curl -sf --retry 60 --retry-delay 1 --retry-all-errors -o /dev/null http://127.0.0.1:$PORT/
trap - EXIT
report SUCCESS "the files are served"
