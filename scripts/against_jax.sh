#!/bin/sh
# against_jax.sh sizes|dynamic|forms [OPTION...] - programs held against live JAX:
# sizes    exported files at sizes that nobody recorded: $JAXVET_CORPUS/exported
#          and the folders of $JAXVET_POLYMORPHIC, or those checked in
# dynamic  StableHLO whose sizes are arguments, against what jaxlib refines:
#          $JAXVET_CORPUS/stablehlo/dynamic
# forms    programs as document, text, StableHLO, bytecode and file
# The scripts are tests/mlir/{sizes_against_jax,dynamic_against_xla,forms_agree}.py.
set -eu
cd "$(dirname "$0")/.."
. scripts/environments.sh
corpus=${JAXVET_CORPUS:-}
what=$1
shift

need_jax against_jax
export JAX_PLATFORMS=cpu
case $what in
sizes)
    files=${corpus:+$corpus/exported}
    # shellcheck disable=SC2086 # lists of folders
    exec "$python" tests/mlir/sizes_against_jax.py ${files:-tests/data/exported} ${JAXVET_POLYMORPHIC:-} "$@"
    ;;
dynamic)
    exec "$python" tests/mlir/dynamic_against_xla.py "${corpus:?the folder with stablehlo/}/stablehlo/dynamic" "$@"
    ;;
forms)
    # shellcheck disable=SC2086 # none or one
    exec "$python" tests/mlir/forms_agree.py demo poly kinds real ${corpus:+$corpus/lint/programs.py} "$@"
    ;;
*)
    echo "against_jax.sh: sizes, dynamic or forms, not $what" >&2
    exit 2
    ;;
esac
