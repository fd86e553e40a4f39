#!/bin/sh
# A farm on one machine (docs/machines.md): a server, three workers, a recording correlated by them. Leaves example.uvh5 in the
# folder it is run in. CORELLA says how the program is called.
set -e
corella=${CORELLA:-corella}
PATH=$PATH:/usr/sbin
command -v nats-server > /dev/null || { echo 'nats-server is missing: apt-get install nats-server (Debian), brew install nats-server'; exit 1; }
store=$(mktemp -d)
server=nats://127.0.0.1:${PORT:-4222}
nats-server -a 127.0.0.1 -p "${PORT:-4222}" -js -sd "$store" > "$store/log" 2>&1 &
nats=$!
trap 'kill $nats 2> /dev/null; rm -rf "$store"' EXIT
sleep 1
[ -e example.sigmf-meta ] || $corella simulate --stations 8 --rate 400kHz --duration 1s --perfect -o example
$corella farm submit correlate example.sigmf-meta --channels 32 --integration 100ms --job-time 50ms -o example.uvh5 --overwrite --server "$server"
for worker in 1 2 3; do
  $corella worker --server "$server" --root . --threads 1 --name "worker$worker" --until-idle 3s &
done
$corella farm collect example.uvh5.farm --overwrite --server "$server"
$corella farm status example.uvh5.farm --server "$server"
