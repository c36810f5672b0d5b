#!/bin/sh
# check_solver_path.sh - a host that was started with a relative LD_LIBRARY_PATH
# and goes to another folder runs the helper beside its library, and neither a
# helper nor a library that lies in that folder.
set -eu
cd "$(dirname "$0")/.."
name='solver path'
. tests/host/begin.sh
gcc -std=c11 -Wall -Wextra -Werror -I. tests/host/solver.c -L"$build" -ljaxvet -o "$root/host"
mkdir -p "$root/start/lib" "$root/trap/lib"
ln -s "$(realpath "$build")/libjaxvet.so" "$root/start/lib/libjaxvet.so.0"
ln -s "$(realpath "$build")/jaxvet-solver" "$root/start/lib/jaxvet-solver"
for bait in jaxvet-solver lib/jaxvet-solver ../libexec/jaxvet-solver; do
    mkdir -p "$(dirname "$root/trap/$bait")"
    printf '#!/bin/sh\necho "%s" >>"%s"\n' "$bait" "$root/caught" >"$root/trap/$bait"
    chmod +x "$root/trap/$bait"
done
# A library that the helper needs, and that says so when it is loaded.
printf '#include <stdlib.h>\n__attribute__((constructor)) static void caught(void)\n{\n    (void)!system("echo a library >>%s");\n}\n' \
    "$root/caught" >"$root/bait.c"
z3=$(ldd "$build/jaxvet-solver" | sed -n 's/^[[:space:]]*\(libz3[^ ]*\) .*/\1/p' | head -n 1)
[ -z "$z3" ] || gcc -shared -fPIC "$root/bait.c" -o "$root/trap/lib/$z3"

count=0
answers() { # NAME=VALUE..., what the host has to say
    expected=$1
    shift
    got=$(cd "$root/start" && env "$@" "$root/host" "$root/trap")
    # shellcheck disable=SC2254 # it is a pattern
    case $got in
    $expected) count=$((count + 1)) ;;
    *) echo "solver path: $*: $got"; exit 1 ;;
    esac
    [ ! -e "$root/caught" ] || { echo "solver path: $* ran $(cat "$root/caught")"; exit 1; }
}
answers 'true*' LD_LIBRARY_PATH=lib
answers 'true*' LD_LIBRARY_PATH=./lib
answers 'true*' LD_LIBRARY_PATH=../start/lib:
answers 'true*' "LD_LIBRARY_PATH=$root/start/lib"
answers 'true*' LD_LIBRARY_PATH=lib "JAXVET_SOLVER=$(realpath "$build")/jaxvet-solver"
answers 'unknown*expected an absolute path*' LD_LIBRARY_PATH=lib JAXVET_SOLVER=./jaxvet-solver
answers 'unknown*expected an absolute path*' LD_LIBRARY_PATH=lib JAXVET_SOLVER=jaxvet-solver
# The command goes nowhere: relative is relative to where it was started.
here=$(pwd)
cd "$build"
JAXVET_SOLVER=./jaxvet-solver "./jaxvet" --version | grep -q '^z3 [0-9]'
cd "$here"
echo "solver path: $count ways to start a host that goes elsewhere"
