#!/bin/sh
# check_locale.sh - a host whose decimal point is a comma, and one whose letters
# are not ASCII's, are told what one in "C" is told.  The locales are made here.
set -eu
cd "$(dirname "$0")/.."
name='locale'
. tests/host/begin.sh
make_locale() { # SOURCE, CHARSET
    localedef -i "$1" -f "$2" "$root/$1.$2" >"$root/log" 2>&1 || [ -f "$root/$1.$2/LC_NUMERIC" ]
}
if ! command -v localedef >/dev/null || ! make_locale de_DE UTF-8 ||
    ! make_locale tr_TR ISO-8859-9; then
    left_out locale "no localedef, or no sources of locales"
    exit
fi

gcc -std=c11 -Wall -Wextra -Werror -I. tests/host/locale.c -L"$build" -ljaxvet \
    -Wl,-rpath,"$(realpath "$build")" -o "$root/host"
# The library is found under its soname.
ln -s "$(realpath "$build")/libjaxvet.so" "$root/libjaxvet.so.0"
LD_LIBRARY_PATH=$root
LOCPATH=$root
export LD_LIBRARY_PATH LOCPATH
find tests/rules tests/data/exported tests/stablehlo tests/mlir/text -type f \
    \( -name "*.json.gz" -o -name "*.jaxexport" -o -name "*.mlir" \) | sort >"$root/files"
echo /nonexistent/program >>"$root/files" # the system's words for that
for locale in C de_DE.UTF-8 tr_TR.ISO-8859-9; do
    xargs "$root/host" "$locale" <"$root/files" >"$root/$locale.out"
    cmp "$root/C.out" "$root/$locale.out"
done
# The command asks no locale at all.
"$build/jaxvet" check tests/rules >"$root/command.C" || true
for name in LC_ALL LC_NUMERIC LC_MESSAGES; do
    env "$name=de_DE.UTF-8" "$build/jaxvet" check tests/rules >"$root/command.out" || true
    cmp "$root/command.C" "$root/command.out"
done
[ "$(grep -c outputs "$root/C.out")" -gt 100 ]
echo "locale: $(wc -l <"$root/files") files, the same in C, de_DE and tr_TR"
