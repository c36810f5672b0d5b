# shellcheck shell=sh
# --version names every library, and the solver through its helper.

expect 0 --version
prints '^jaxvet [0-9.]*$'
prints '^zlib [0-9.]*$'
prints '^OpenBLAS [0-9.]*$'
prints '^z3 [0-9.]*$'
prints '^documents 3$'
prints '^exported-files up to 12, calling conventions 9 to 10, as of JAX 0.6.2 to '
prints '^StableHLO 0.9.0 to 1.22.0$'
is_silent
export JAXVET_SOLVER=/nonexistent
expect 0 --version
prints '^z3: no solver'
unset JAXVET_SOLVER
