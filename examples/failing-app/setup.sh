#!/bin/sh
# Sets the application up; whatever stops it is reported with a reason.
set -eu

notify() {
    $NOTIFY --silent --data-binary "$1" >/dev/null
}

fail() {
    echo "setup: $1" >&2
    notify "{\"status\": \"FAILURE\", \"reason\": \"$1\"}"
    exit 1
}

echo "setup: looking for the licence"
[ -r "$LICENCE" ] || fail "there is no licence in $LICENCE"

echo "setup: done"
notify '{"status": "SUCCESS", "reason": "the licence is there"}'
