# shellcheck shell=sh
# Usage and help.

expect 2
prints '^usage: jaxvet COMMAND'
expect 0 --help
prints '^usage: jaxvet COMMAND'
is_silent
expect 0 help
prints '^  help '

expect 2 hepl
complains "unknown command 'hepl'; did you mean 'help'?"
expect 2 frobnicate
complains "unknown command 'frobnicate'$"
expect 2 help frobnicate
complains "unknown command 'frobnicate'"
expect 2 help --frob
complains 'jaxvet help: unknown option --frob'
complains '^usage: jaxvet help'
expect 2 help one two
complains 'expected one command'

# Every command in the list has a help page, and refuses an unknown option.
"$JAXVET" help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$work/commands"
holds test -s "$work/commands"
while read -r command; do
    expect 0 "$command" --help
    prints "^usage: jaxvet $command"
    expect 0 help "$command"
    prints "^usage: jaxvet $command"
    expect 2 "$command" --no-such-option
    complains "jaxvet $command: unknown option --no-such-option"
done <"$work/commands"

# Output that can't be written is an error, not silence.
"$JAXVET" help >/dev/full 2>"$work/err"
got=$?
: >"$work/out"
holds test $got -eq 3
complains 'stdout.*written'
