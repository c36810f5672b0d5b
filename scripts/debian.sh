# shellcheck shell=sh
# debian.sh - sourced: where this machine's apt has Debian's packages.

# The URL of Debian's packages, not of its security updates; nothing if there is
# none.  $JAXVET_DEBIAN says another.
debian_packages() {
    [ -n "${JAXVET_DEBIAN:-}" ] && echo "$JAXVET_DEBIAN" && return
    # shellcheck disable=SC2016 # apt's own names
    apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' \
        'Created-By: Packages' | sed -n 's/^Debian\/Debian //p' | head -n 1
}
