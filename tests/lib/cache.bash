# Where the tests keep what is costly to make: outside of the tree. Root's must be readable by the
# accounts of the rootless tests, so it is not below /root.
if [ -z "${BRIG_TEST_CACHE:-}" ]; then
	if [ "$EUID" = 0 ]; then
		BRIG_TEST_CACHE=/var/cache/brig-tests
	else
		BRIG_TEST_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/brig-tests
	fi
fi
export BRIG_TEST_CACHE
