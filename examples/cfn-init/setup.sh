#!/bin/sh
# The first metadata came with the server; cfn-init finds them where cloud-init has put them.
cfn-init
cfn-signal -e $? '$HANDLE'

# cfn-hup looks once; where there is no cron, a loop does what its entry would.
(
    while sleep 5; do
        cfn-hup
    done
) > /var/log/hup.log 2>&1 < /dev/null &
