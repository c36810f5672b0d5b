#!/bin/sh
# manpage.sh JAXVET - prints the manual page: docs/jaxvet.1.in with the commands
# that this jaxvet has, as its own help describes them.
set -eu
jaxvet=$1

commands() {
    "$jaxvet" help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1 \2/p' |
        while read -r name summary; do
            usage=$("$jaxvet" help "$name" | sed -n '1s/^usage: //p')
            printf '.TP\n.B %s\n%s.\n' "$usage" "$(echo "$summary" | sed 's/./\U&/')"
        done
}

sed '/^@COMMANDS@$/,$d' "$(dirname "$0")/../docs/jaxvet.1.in"
commands
sed '1,/^@COMMANDS@$/d' "$(dirname "$0")/../docs/jaxvet.1.in"
