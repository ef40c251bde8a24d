#!/usr/bin/env bats
# places: root
# Each step of a start is made to fail in turn, and each of its processes is killed at each: the error names the
# step, and nothing is left. tests/lib/faults does it; it has the configurations, and which of them answers for
# which step.

load ../lib/common
load ../lib/docker

setup() {
	docker_setup
	export BRIG_DOCKER
	make_bundle "$T/bundle" true
	id=$(new_id)
}

need_tracer() { [ "$(uname -m)" = x86_64 ] || skip "tests/lib/tracer.py knows the registers of x86-64 alone"; }

# faults VERB CONFIGURATION...: what it says is an error.
faults() {
	local verb=$1 one
	need_tracer
	shift
	for one in "${@:--}"; do
		run "${place[@]}" "$TESTS_LIB/faults" "$verb" "$one"
		[ "$status" = 0 ] || fail "faults $verb $one:" "$output"
	done
}

# Where statfs finds a tmpfs at /sys/fs/resctrl; the tracer lets it say that it is resctrl.
with_resctrl=(unshare -m --propagation private bash -ec '
	mkdir -p "$T/cgroup"
	mount --rbind /sys/fs/cgroup "$T/cgroup"
	mount -t tmpfs tmpfs /sys/fs
	mkdir /sys/fs/cgroup /sys/fs/resctrl
	mount --rbind "$T/cgroup" /sys/fs/cgroup
	umount -l "$T/cgroup"
	exec "$@"' with_resctrl)
place=()

@test "every step has its fault, or a reason why it cannot fail" { faults table; }

@test "each step fails, or dies: the host's, the root's, the process's" { faults steps run; }
@test "each step fails, or dies: the network namespace that was made ahead" {
	[ "$(nproc)" -gt 1 ] || skip "it is not made ahead with one processor"
	faults steps ahead
}
@test "each step fails, or dies: hooks" { faults steps hooks; }
@test "each step fails, or dies: ids, terminal, time, seccomp agent, id-mapped mount" { faults steps more; }
@test "each step fails, or dies: behind the start of what was created" { faults steps start; }
@test "each step fails, or dies: attributes, agent, handler, joined namespaces" { faults steps attributes no-cgroup agent handler joined; }
@test "each step fails, or dies: sandbox" { faults steps sandbox sandbox-alone core-scheduling; }
@test "each step fails, or dies: ports of a sandbox" { need_ports && faults steps ports; }
@test "each step fails, or dies: network devices" { place=(unshare -n) && faults steps devices; }
@test "each step fails, or dies: resctrl" { place=("${with_resctrl[@]}") && faults steps resctrl; }
@test "each step fails, or dies: device filter, delegated cgroup" { place=("$TESTS_LIB/in-cgroup2") && faults steps device-filter delegated; }
@test "a step fails: what is asked for is not there, or too much" { faults ask; }

@test "a step fails: a network of brig-docker" {
	docker_py
	dk network create --internal in >/dev/null
	dk run -d --name peer --network in py sleep 1000 >/dev/null
	faults docker
	dk rm -f peer >/dev/null
	dk network rm in >/dev/null
}

@test "any call fails: run" { faults every run; }
@test "any call fails: create with ids, terminal, agent" { faults every more; }

need_ports() { [ -x /usr/bin/pasta ] || skip "no pasta (package passt)"; }

@test "a cgroup that cannot be removed is an error, and delete tries again" {
	need_command strace
	run timeout 10 strace -D -f -q -o "$T/strace" -e trace=unlinkat -e inject=unlinkat:error=ENOMEM:when=1 \
		"$BRIG" --root "$BRIG_ROOT" run -b "$T/bundle" "$id" 3>&-
	[ "$status" -ne 0 ]
	assert_contains "$output" "remove cgroup"
	"$BRIG" --root "$BRIG_ROOT" delete --force "$id"
	[ ! -e "$BRIG_ROOT/$id" ]
}

@test "a full disk under the state directory" {
	local free
	for free in 0 1; do
		run unshare -m --propagation private sh -ec '
			mkdir -p "$1/small"
			mount -t tmpfs -o size=16k tmpfs "$1/small"
			mkdir -m 700 "$1/small/state"
			dd if=/dev/zero of="$1/small/fill" bs=4096 2>/dev/null || true
			[ "$4" = 0 ] || dd if=/dev/zero of="$1/small/fill" bs=4096 count=3 2>/dev/null || true
			code=0
			"$2" --root "$1/small/state" run -b "$1/bundle" "$3" || code=$?
			ls "$1/small/state"
			exit $code' sh "$T" "$BRIG" "$id" "$free"
		if [ "$status" != 0 ]; then
			assert_contains "$output" "No space left on device"
			assert_equal "$(wc -l <<<"$output")" 1
		else
			assert_equal "$free" 1
		fi
	done
}

@test "a state directory that cannot be written" {
	mkdir "$T/ro"
	run unshare -m --propagation private sh -ec 'mount -t tmpfs -o ro tmpfs "$1/ro"
		exec "$2" --root "$1/ro/state" run -b "$1/bundle" "$3"' sh "$T" "$BRIG" "$id"
	[ "$status" -ne 0 ]
	assert_contains "$output" "Read-only file system"
}
