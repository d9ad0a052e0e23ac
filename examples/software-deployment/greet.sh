#!/bin/sh
# Inputs are environment variables; outputs are files beside $heat_outputs_path.
set -eu
echo "$greeting from $(hostname)" >> /srv/greetings.txt
cp /srv/greetings.txt "$heat_outputs_path.written"
echo "wrote $(wc -l < /srv/greetings.txt) lines"
echo "this is standard error" >&2
