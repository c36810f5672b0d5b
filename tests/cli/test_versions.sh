# shellcheck shell=sh
# --version names every library, and the solver through its helper.

expect 0 --version
prints '^jaxvet [0-9.]*$'
prints '^json-c [0-9.]*$'
prints '^zlib [0-9.]*$'
prints '^OpenBLAS [0-9.]*$'
prints '^z3 [0-9.]*$'
is_silent
export JAXVET_SOLVER=/nonexistent
expect 0 --version
prints '^z3: no solver'
unset JAXVET_SOLVER
