#!/bin/sh
# Reports the length of the queue every few seconds.
mkdir -p /etc/cfn /srv/queue
echo 0 > /srv/queue/length
printf 'AWSAccessKeyId=%s\nAWSSecretKey=%s\n' '$ACCESS' '$SECRET' > /etc/cfn/cfn-credentials
chmod 400 /etc/cfn/cfn-credentials
(
    while sleep 3; do
        cfn-push-stats --watch '$ALARM' --metric QueueLength --units Count \
            --value "$(cat /srv/queue/length)"
    done
) > /var/log/report.log 2>&1 < /dev/null &
