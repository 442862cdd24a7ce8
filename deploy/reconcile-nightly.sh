#!/bin/sh
# Runs reconcile at its start and every day at RECONCILE_AT (UTC, 03:00). Its exit status is left in RECONCILE_STATUS, where the
# health check of docker-compose.yml reads it; anything but 0 is also a line at level error, in the form of Weir's other logs.
# A run that could not find anything out is made again every five minutes for an hour first.

at="${RECONCILE_AT:-03:00}"
status_file="${RECONCILE_STATUS:-/tmp/reconcile}"

case $at in
  [0-9]:[0-5][0-9] | [01][0-9]:[0-5][0-9] | 2[0-3]:[0-5][0-9]) ;;
  *)
    echo "RECONCILE_AT is $at: write a time of day in UTC, from 0:00 to 23:59" >&2
    exit 1
    ;;
esac
# Their zeros in front would make them octal. Of a zero alone nothing is left.
hours="${at%:*}"
hours="${hours#0}"
minutes="${at#*:}"
minutes="${minutes#0}"
due=$((${hours:-0} * 3600 + ${minutes:-0} * 60))

tell() {
  printf '{"level":%s,"time":%s000,"name":"weir-reconcile","status":%s,"msg":"%s"}\n' "$1" "$(date +%s)" "$status" "$2"
}

# Ends at once when it is told to, and with it what it waits for. By KILL: a child that has just begun still has this trap, and any other
# signal would be lost on it.
trap 'kill -9 $! 2>/dev/null; exit 0' TERM INT

# So often a run that found nothing out, as while Postgres or Redis starts, is made again before somebody hears of it.
repeats=12

# A first run that does not end is too old one day, as any other.
echo 0 >"$status_file"
left=$repeats
while :; do
  # Options are words.
  # shellcheck disable=SC2086
  node apps/reconcile/dist/main.js ${RECONCILE_OPTIONS:-} &
  wait $!
  status=$?
  if [ "$status" -gt 1 ] && [ "$left" -gt 0 ]; then
    left=$((left - 1))
    tell 40 'reconcile could not be run to its end: it is run again in five minutes'
    sleep 300 &
    wait $!
    continue
  fi
  left=$repeats
  echo "$status" >"$status_file"
  case $status in
    0) ;;
    1) tell 50 'reconcile found a difference: docs/operations.md says what to do' ;;
    *) tell 50 'reconcile could not be run to its end' ;;
  esac
  sleep $((86400 - ($(date +%s) - due) % 86400)) &
  wait $!
done
