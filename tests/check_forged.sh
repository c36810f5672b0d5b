#!/bin/sh
# check_forged.sh - the checker of certificates and a second one, in Python: they
# accept what the prover writes, no false statement whatever its proof, and agree
# on each. ($FORGED false statements, 4,000, and $OWN own certificates, 300; make
# forge: 10^6, and all the small ones; make checkers-agree: 20,000.)
set -u
cd "$(dirname "$0")/.." || exit 1
JAXVET=${BUILD:-build}/jaxvet
export JAXVET
bad=0
python3 tests/prove/forge.py random "${FORGED:-4000}" "${SEED:-1}" || bad=1
[ -z "${ENUMERATE:-}" ] || python3 tests/prove/forge.py enumerate || bad=1
python3 tests/prove/checkers_agree.py "${OWN:-300}" "${SEED:-1}" || bad=1
exit $bad
