#!/bin/sh
# check_layers.sh - what no compiler checks: includes point left, each outside
# library has one file, objects hold no mutable state, the library neither ends
# nor jumps out of its host, and exports only jaxvet_*.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
bad=0

fail() {
    echo "layers: $*"
    bad=1
}

sources=$(find frontend analyzer prover checker runtime reports jaxvet.c \
    -name '*.[ch]' -o -name '*.def' 2>/dev/null | sort)

# Includes point left.
# shellcheck disable=SC2086 # a list of files
grep -n '^#include "' $sources | awk '
function rank(path) {
    if (path ~ /^frontend\/base\//) return 1
    if (path ~ /^frontend\/ir\//) return 2
    if (path ~ /^frontend\/sizes\//) return 3
    if (path ~ /^frontend\/mlir\//) return 4
    if (path ~ /^frontend\/read\//) return 5
    if (path ~ /^frontend\/decompose\//) return 6
    if (path ~ /^frontend\/write\//) return 7
    if (path ~ /^analyzer\//) return 8
    if (path ~ /^prover\//) return 9
    if (path ~ /^checker\//) return 10
    if (path ~ /^runtime\//) return 11
    if (path ~ /^reports\/pipeline\//) return 12
    if (path ~ /^reports\/formats\//) return 13
    if (path ~ /^reports\/commands\//) return 14
    if (path ~ /^reports\//) return 15
    if (path == "jaxvet.c") return 16
    if (path == "jaxvet.h") return 0
    return -1
}
{
    split($0, part, ":")
    split($0, quoted, "\"")
    from = rank(part[1]); to = rank(quoted[2])
    if (to < 0) { print part[1] ":" part[2] ": include \"" quoted[2] "\": name it by its path from the root"; bad = 1 }
    else if (to > from) { print part[1] ":" part[2] ": includes " quoted[2] ", which is to its right"; bad = 1 }
}
END { exit bad }' || fail "includes must point left"

# The checker of certificates trusts nobody: it reads JSON, and stays short.
grep -n '^#include "' checker/* | grep -v -e '"checker/' -e '"frontend/base/json.h"' -e '"frontend/base/expression.h"' &&
    fail "the checker includes only the readers of JSON and of sizes"
lines=$(cat checker/* | wc -l)
[ "$lines" -le 900 ] || fail "the checker has $lines lines, more than 900"

# Hosts speak the public header alone, as anybody's could; MPI fills in an interface.
grep -rn '^#include "' hosts | grep -v -e '"hosts/' -e '"jaxvet\.h"' \
    -e '^hosts/mpi/mpi\.c:.*"runtime/comm\.h"' &&
    fail "hosts include only jaxvet.h and their own headers"

# One file per outside library.
one_file() { # header pattern, file
    # shellcheck disable=SC2086
    grep -lE "^#include <($1)>" $sources | while read -r f; do
        [ "$f" = "$2" ] || fail "$f includes <$1>, which only $2 may"
        [ $bad -eq 0 ]
    done || bad=1
}
one_file 'zlib\.h' frontend/base/inflate.c
one_file 'z3.*\.h' prover/z3.c
one_file 'cblas.*\.h|lapack.*\.h|openblas.*\.h' runtime/blas.c
one_file 'mpi\.h' runtime/mpi.c

# No mutable globals: every object symbol is in a read-only section (or one that
# is so after relocation).  The solver's helper is a program of its own, and OpenBLAS,
# which is the process's, is made ready under a lock that is, too.
objects=${OBJECTS:?the objects of the library and the command}
instrumented=$(nm "$build/libjaxvet.a" 2>/dev/null | grep -cE '__(asan|ubsan)_')
if [ "$instrumented" -eq 0 ]; then
    # shellcheck disable=SC2086
    objdump -t $objects | awk '
    /file format/ { file = $1 }
    file ~ /\/runtime\/blas\.o:$/ && $NF ~ /^lock\.[0-9]+$/ { next }
    $0 ~ / O / && $0 ~ / (\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $0 !~ /\.data\.rel\.ro/ {
        print file " " $NF ": mutable global"; bad = 1
    }
    END { exit bad }' || fail "state belongs to a struct that the caller passes"

    # Files that need each other, each circle with its reason.
    # shellcheck disable=SC2086
    python3 tests/circles.py tests/circles.txt $objects ||
        fail "tests/circles.txt lists the circles there are"

    # What a library must not do to its host.  (The command has none: its signals and
    # processes are its own.)
    # shellcheck disable=SC2086
    nm -A -u $objects | awk '
    $1 ~ /\/obj\/jaxvet\.o:/ && $NF ~ /^signal(@|$)/ { next }
    $1 ~ /\/obj\/reports\/commands\/share\.o:/ && $NF ~ /^(fork|_exit)(@|$)/ { next }
    $NF ~ /^(_?exit|_Exit|quick_exit|abort|_?_?sigsetjmp|_?setjmp|_?longjmp|siglongjmp|v?fork|system|popen|signal|s?rand|strtok|setlocale|umask|chdir)(@|$)/ {
        print; bad = 1
    }
    END { exit bad }' || fail "a library must not call these"

    # What asks the host's locale is asked through frontend/base/plain.h.
    # shellcheck disable=SC2086
    nm -A -u $objects | awk '
    $1 !~ /\/base\/plain\.o:/ && $NF ~ /^(strto(d|f|ld)|atof|v?s?n?scanf|v(sn|as|s)printf|strerror(_r)?|perror|str(n?casecmp|coll|xfrm)|__ctype_(b|tolower|toupper)_loc|to(lower|upper)|nl_langinfo|localeconv)(@|$)/ {
        print; bad = 1
    }
    END { exit bad }' || fail "only frontend/base/plain.c may ask the locale"
fi
# shellcheck disable=SC2086
grep -nE '[^_](s|sn|as)printf\(.*%[-+ #0-9.*l]*[aefgAEFG]' $sources | grep -v jx_ &&
    fail "numbers with a point are written by jx_snprintf()"

# Only jaxvet_* is visible from outside.
nm -D --defined-only "$build/libjaxvet.so" | awk '
$NF !~ /^jaxvet_/ { print "libjaxvet.so exports " $NF; bad = 1 }
END { exit bad }' || fail "libjaxvet.so must export jaxvet_* only"

# What would cost every start is loaded when it is needed.
for file in jaxvet libjaxvet.so; do
    if readelf -d "$build/$file" | grep NEEDED | grep -E 'z3|blas|lapack|mpi'; then
        fail "$build/$file must not be linked with these"
    fi
done

[ $bad -eq 0 ] && echo "layers: as they should be ($(echo "$sources" | wc -l) files)"
exit $bad
