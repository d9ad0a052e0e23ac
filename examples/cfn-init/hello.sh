#!/bin/sh
### BEGIN INIT INFO
# Provides: hello
# Required-Start:
# Required-Stop:
# Default-Start: 2 3 4 5
# Default-Stop: 0 1 6
# Short-Description: serves /srv/hello on port 8080
### END INIT INFO
pid_file=/run/hello.pid

case "$1" in
    start)
        cd /srv/hello || exit 1
        setsid python3 -m http.server 8080 > /var/log/hello-service.log 2>&1 < /dev/null &
        echo $! > $pid_file
        ;;
    stop)
        kill "$(cat $pid_file)"
        ;;
    status)
        test -e $pid_file && kill -0 "$(cat $pid_file)" 2> /dev/null
        ;;
    *)
        echo "usage: $0 {start|stop|status}" >&2
        exit 2
        ;;
esac
