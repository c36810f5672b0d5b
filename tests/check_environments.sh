#!/bin/sh
# check_environments.sh - which Python is taken for an environment, among some
# that do nothing but have a version.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. scripts/environments.sh
count=0

# A Python of each version at each place: VERSION:FILE.  Without a version it
# does not run, as a command of pyenv's whose version is not selected.
pythons() {
    rm -rf "${work:?}/bin" "$work/pyenv"
    for each; do
        file=$work/${each#*:}
        mkdir -p "$(dirname "$file")"
        {
            echo '#!/bin/sh'
            echo "for each; do [ \"\$each\" = \"${each%%:*}\" ] && exit; done"
            echo 'exit 127'
        } >"$file"
        chmod +x "$file"
    done
}

# $1: an environment, $2: the Python that it gets (none if empty), $3: what
# JAXVET_PYTHON is.
gets() {
    got=$(JAXVET_PYTHON=${3:+$work/$3} PYENV_ROOT=$work/pyenv \
        PATH=$work/bin:$work/tools && export PATH &&
        python_for "$1" 2>"$work/said") || true
    count=$((count + 1))
    [ "$got" = "${2:+$work/$2}" ] || {
        echo "environments: $1 gets \"$got\", not \"$2\""
        exit 1
    }
}

# Nothing else of this machine is in PATH.
mkdir "$work/tools"
for tool in sh sort grep; do
    ln -s "$(command -v $tool)" "$work/tools"
done

pythons 3.11:bin/python3
gets build/venv bin/python3
gets build/venv-new ''
gets build/venv-newest ''
pythons 3.11:bin/python3 3.12:bin/python3.12 3.13:bin/python3.13 \
    :bin/python3.14 3.14:other/python
gets build/venv bin/python3
gets build/venv-new bin/python3.13
gets build/venv-new other/python other/python
gets build/venv-newest other/python other/python
gets build/venv bin/python3 other/python
grep -q . "$work/said" && exit 1
gets build/venv-new bin/python3.13 bin/python3
grep -q "JAXVET_PYTHON" "$work/said"
pythons :bin/python3.12 :bin/python3.13 3.12:pyenv/versions/3.12.9/bin/python \
    3.12:pyenv/versions/3.12.10/bin/python 3.11:pyenv/versions/3.11.7/bin/python
gets build/venv-new pyenv/versions/3.12.10/bin/python
gets build/venv pyenv/versions/3.12.10/bin/python
pythons 3.13:bin/python3
gets build/venv bin/python3
gets build/venv-new bin/python3
pythons 3.10:bin/python3 3.15:bin/python3.15
gets build/venv ''
gets build/venv-new ''
echo "environments: $count choices of a Python"
