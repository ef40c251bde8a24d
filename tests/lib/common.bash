# Helpers for the bats files. Each file starts with
#
#     # places: root rootless cgroup2 vm vm-rootless vm-systemd    (those in which ./check shall run it)
#     load ../lib/common
#
# Every test has its own directory $T and state root $BRIG_ROOT; teardown fails a test that left a
# process, cgroup, mount or state behind. A file with its own setup or teardown calls brig_setup
# and brig_teardown in them.

bats_require_minimum_version 1.5.0

# Few processes here, in the set-up and at the end (3 ms each, in the virtual machine 20 and more), and no loops:
# bats has a trap for each command.
came_from=$PWD
cd "${BASH_SOURCE[0]%/*}" && TESTS_LIB=$PWD
cd ../.. && TREE=$PWD
cd "$came_from" && unset came_from
# shellcheck source=tests/lib/cache.bash
source "$TESTS_LIB/cache.bash"
# shellcheck source=tests/lib/bundles.bash
source "$TESTS_LIB/bundles.bash"
BRIG=${BRIG:-$TREE/build/brig}
[[ $BRIG == /* && ! -L $BRIG ]] || BRIG=$(realpath "$BRIG")
export BRIG

setup() { brig_setup; }
teardown() { brig_teardown; }

brig_setup() {
	[ -x "$BRIG" ] || fail "no program $BRIG: build it, or set BRIG"
	# bats has a child of its own for BATS_TEST_TIMEOUT: a test's plain `wait` must not wait for it.
	disown -a
	T=${TMPDIR:-/tmp}/brig-t.$BASHPID-$RANDOM
	mkdir -m 755 "$T"
	BRIG_ROOT=$T/state
	export T BRIG_ROOT
	# A mark that everything started from here inherits whatever it does to its environment,
	# parent, cgroup or namespaces: a value of a resource limit that the kernel ignores.
	local mark=$((1 << 50 | RANDOM << 30 | RANDOM << 15 | RANDOM))
	ulimit -S -x $mark
	MARK=$mark
	CGROUPS_BEFORE=$'\n'$(list_cgroups)$'\n'
}

brig_teardown() {
	local status=0
	# The set-up may have failed before there was anything.
	[ -n "${MARK:-}" ] || return 0
	assert_left_nothing || { status=1 && kill_marked; }
	remove_delegated
	rm -rf --one-file-system "$T" || status=1
	return $status
}

fail() {
	printf '%s\n' "$@" >&2
	return 1
}

# --- Running -------------------------------------------------------------------------------------

# run_apart COMMAND...: as `run --separate-stderr`, with one process instead of four. Each has a file of its own:
# what runs on behind one may still write to it.
# shellcheck disable=SC2034 # for the tests
run_apart() {
	local flags=$- file
	RUNS=$((${RUNS:-0} + 1)) file=$BATS_TEST_TMPDIR/stderr.$BASHPID.$RUNS
	set +eET
	output=$("$@" 2>"$file")
	status=$?
	IFS=$'\n' read -d '' -r -a lines <<<"$output"
	read -d '' -r stderr <"$file"
	IFS=$'\n' read -d '' -r -a stderr_lines <<<"$stderr"
	set "-$flags"
}

# run_brig ARG...: sets $status, $output (standard output) and $stderr.
run_brig() {
	run_apart "$BRIG" --root "$BRIG_ROOT" "$@"
}

# A container ID of this test.
new_id() {
	echo "t${T##*.}-${1:-1}"
}

# Whether brig has recorded that the container is there.
is_recorded() { grep -qsE '"phase":"(created|running)"' "$BRIG_ROOT/$1"; }

# Runs with a login's environment as one of the two accounts of tests/lib/accounts; the state root
# is one of its own. -d: in a delegated cgroup (cgroup v2 only).
as_user() {
	local opt=()
	[ "$1" != -d ] || { opt=(-d) && shift && : >"$T/delegated-$1"; }
	need_root
	BRIG_ROOT=$T/state-$1
	install -d -o "$1" -m 700 "$BRIG_ROOT"
	"$TESTS_LIB/as-user" "${opt[@]}" "$@"
}

remove_delegated() {
	local file top
	for file in "$T"/delegated-*; do
		top=/sys/fs/cgroup/brig-${file##*/}
		[ ! -d "$top" ] || rmdir "$top/session" "$top" || true
	done
}

in_cgroup2() {
	"$TESTS_LIB/in-cgroup2" "$@"
}

# jget FILTER [TEXT]: a value of the JSON text (default: $output), strings without quotes.
jget() {
	jq -er "$1" <<<"${2-$output}"
}

# assert_json FILTER VALUE [TEXT]
assert_json() {
	local have
	have=$(jq -r "$1" <<<"${3-$output}") || fail "not JSON: ${3-$output}" "${stderr:-}"
	[ "$have" = "$2" ] || fail "$1 is '$have', not '$2' in:" "${3-$output}" "${stderr:-}"
}

assert_status() {
	[ "$status" = "$1" ] || fail "exit status $status, not $1" "$output" "${stderr:-}"
}

assert_equal() {
	[ "$1" = "$2" ] || fail "'$1' is not '$2'"
}

assert_contains() {
	[[ $1 == *"$2"* ]] || fail "no '$2' in: $1"
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# --- Where we are --------------------------------------------------------------------------------

in_vm() { [ "${BRIG_VM:-}" = 1 ]; }
cgroup2_only() { [ -e /sys/fs/cgroup/cgroup.controllers ]; }

# has_controller NAME: limits of this controller can be set here by this user.
has_controller() {
	if cgroup2_only; then
		grep -qw "$1" /sys/fs/cgroup/cgroup.controllers && [ -w /sys/fs/cgroup ]
	else
		[ -w "/sys/fs/cgroup/$1" ]
	fi
}

need_root() { [ "$EUID" = 0 ] || skip "needs root"; }
need_rootless() { [ "$EUID" != 0 ] || skip "is for a normal user"; }
need_vm() { in_vm || skip "needs the virtual machine"; }
need_controller() { has_controller "$1" || skip "no $1 controller here"; }
need_command() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# --- Nothing left --------------------------------------------------------------------------------

list_cgroups() {
	# process_api belongs to the machine, docker to a docker daemon: what is in them comes and goes.
	# A normal user's are his own: tests of root may run beside his.
	local own=()
	[ "$EUID" = 0 ] || own=(-uid "$EUID")
	# find fails when one vanishes meanwhile.
	find /sys/fs/cgroup -mindepth 1 \( -name process_api -o -name docker \) -prune -o -type d "${own[@]}" -print 2>/dev/null || true
}

# Processes that have our mark, but no zombies: those wait for whoever started them.
marked_processes() {
	local file pid key value
	# Without a mark this would find everything that runs here.
	[[ ${MARK:-} =~ ^[0-9]{16}$ ]] || return 0
	# shellcheck disable=SC2013 # names without blanks
	for file in $(grep -lsE "^Max file locks +$MARK " /proc/[0-9]*/limits); do
		pid=${file#/proc/} pid=${pid%/limits}
		while read -r key value _; do
			[ "$key" != State: ] || [ "$value" = Z ] || echo "$pid"
		done <"/proc/$pid/status"
	done 2>/dev/null
}

kill_marked() {
	local pid
	for pid in $(marked_processes); do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

# Sets $LEFT_CGROUPS: cgroups that were not there before the test, that nobody is in, and that every
# look so far has found. (Those with somebody in them are other people's, or have a marked process;
# those that come and go belong to a test that runs beside this one.)
look_for_cgroups() {
	local dir now found=
	now=$(list_cgroups)
	[[ $CGROUPS_BEFORE != $'\n'"$now"$'\n' ]] || now=
	while read -r dir; do
		[ -n "$dir" ] || continue
		[[ $CGROUPS_BEFORE != *$'\n'$dir$'\n'* ]] || continue
		[[ ! $dir =~ /brig-delegated-brigtest[12](/session)?$ ]] || continue
		[ -z "${LOOKED:-}" ] || [[ $LEFT_CGROUPS == *"cgroup $dir"$'\n'* ]] || continue
		[ -z "$(cat "$dir/cgroup.procs" 2>/dev/null)" ] || continue
		found+="cgroup $dir"$'\n'
	done <<<"$now"
	LEFT_CGROUPS=$found LOOKED=1
}

# Sets LEFT.
nothing_left() {
	local pid line path mounts
	look_for_cgroups
	LEFT=$LEFT_CGROUPS
	for pid in $(marked_processes); do
		LEFT+="process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline")"$'\n'
	done
	[ "$EUID" != 0 ] || [ -O /dev/null ] || LEFT+=$'/dev/null has another owner\n'
	mapfile -d '' mounts </proc/self/mountinfo
	if [[ ${mounts[0]} == *"$T/"* ]]; then
		while read -r line; do
			[[ $line != *"$T/"* ]] || LEFT+="mount $line"$'\n'
		done <<<"${mounts[0]}"
	fi
	# Names with a dot in front are caches, not containers.
	for path in "$T"/state*/* "$T"/state*/.files/*; do
		[ ! -e "$path" ] || LEFT+="state $path"$'\n'
	done
	[ -z "$LEFT" ]
}

assert_left_nothing() {
	# From here on we are not marked ourselves.
	ulimit -S -x hard
	wait_for 2 nothing_left || fail "left behind:" "$LEFT"
}
