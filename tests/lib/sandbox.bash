# Helpers for the tests of `brig sandbox`.

# limits_work: this user can make a cgroup with limits here.
limits_work() {
	local dir
	if [ "$EUID" = 0 ]; then
		has_controller memory
		return
	fi
	cgroup2_only || return 1
	dir=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	while [ -w "$dir/cgroup.procs" ]; do
		! grep -qsw memory "$dir/cgroup.controllers" || return 0
		dir=${dir%/*}
	done
	return 1
}

need_limits() { limits_work || skip "no cgroup with limits here"; }

# sandbox [OPTION...] [-- COMMAND...]: sets $status, $output (the result) and $stderr. Where limits
# cannot work they are waived.
sandbox() {
	local waive=()
	limits_work || waive=(--best-effort)
	run_brig sandbox "${waive[@]}" "$@"
}

# python CODE [OPTION...]: in the Python root file system.
python() {
	local code=$1
	shift
	sandbox --rootfs "$(python_rootfs)" "$@" -- python3 -c "$code"
}

assert_stdout() {
	assert_json .stdout "$1"
}
