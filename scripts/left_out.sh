# shellcheck shell=sh
# left_out.sh - for the checks to read: `left_out NAME WHY` says that something can't
# be had here, and is false where that is a failure, under CI=true.
left_out() {
    echo "$1: left out: $2"
    [ "${CI:-}" != true ]
}
