# shellcheck shell=sh disable=SC2034 # read elsewhere
# environments.sh - the environments that have a JAX; for other scripts to read
# (with `.`, in the tree's root).
#
#   build/venv         the pinned JAX of requirements.txt
#   build/venv-new     the newest pinned one, of requirements-new.txt
#   build/venv-newest  PyPI's latest (make jax-newest)
#   build/venv-libraries  the newest of libraries (make libraries)
#   build/venv-shipped  the newest of libraries beside the pinned JAX (make found)
#
# What takes one alone takes $JAXVET_VENV, build/venv if that is not set.
. scripts/left_out.sh
environments='build/venv build/venv-new' # those of make test
venv=${JAXVET_VENV:-build/venv}
python=$venv/bin/python

# What an environment is pinned by.
requirements_of() {
    case $1 in
    *-new) echo requirements-new.txt ;;
    *) echo requirements.txt ;;
    esac
}

# The Pythons that have wheels of all that is pinned, the preferred first.
versions_of() {
    case $1 in
    *-new | *-newest | *-libraries | *-shipped) echo 3.14 3.13 3.12 ;;
    *) echo 3.14 3.13 3.12 3.11 ;;
    esac
}

# The Pythons to try for it, one a line.  Those of pyenv are asked for by their
# folders, as its commands in PATH run only the version that is selected.
candidates_for() {
    case $1 in
    *-new | *-newest | *-libraries | *-shipped) [ -z "${JAXVET_PYTHON:-}" ] || echo "$JAXVET_PYTHON" ;;
    *) echo python3 ;;
    esac
    for version in $(versions_of "$1"); do
        echo "python$version"
        for pyenv in "${PYENV_ROOT:-${HOME:-}/.pyenv}/versions/$version".*; do
            echo "$pyenv/bin/python"
        done | sort -rV
    done
    echo python3
}

# Whether a Python ($1) runs, is of one of the versions (the rest) and can make
# an environment.  No wheels are for those without the global lock.
is_good_python() {
    [ -n "$(command -v "$1")" ] && "$1" - "$@" >/dev/null 2>&1 <<'END'
import ensurepip, sys, sysconfig, venv
good = "%d.%d" % sys.version_info[:2] in sys.argv[2:]
sys.exit(not good or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
END
}

# Prints the Python to make an environment with; false if there is none.
python_for() {
    versions=$(versions_of "$1")
    candidates_for "$1" | while read -r candidate; do
        # shellcheck disable=SC2086 # a list of words
        if is_good_python "$candidate" $versions; then
            command -v "$candidate"
            break
        elif [ "$candidate" = "${JAXVET_PYTHON:-}" ]; then
            echo "JAXVET_PYTHON, $candidate: no Python $versions with venv" >&2
        fi
    done | grep .
}

# Leaves the script $1 out where the one environment has no JAX.
need_jax() {
    has_jax "$venv" && return
    left_out "$1" "$venv has no JAX (see make setup)"
    exit
}

has_jax() { "$1/bin/python" -c 'import jax, pytest' >/dev/null 2>&1; }

# "JAX 0.10.2, Python 3.11.7 (build/venv)"
describe() {
    "$1/bin/python" - "$1" <<'END'
import importlib.metadata, platform, sys
print(f"JAX {importlib.metadata.version('jax')},"
      f" Python {platform.python_version()} ({sys.argv[1]})")
END
}
