# shellcheck disable=SC2034,SC2154 # ID and NAME are for the tests; stderr is set by run
# Helpers for the tests with real callers: containerd, podman, conmon. Nothing of the machine's own
# installation is used: the configuration, stores, sockets and state are below $T, and what is fixed
# in the callers to /run lies in a private mount namespace with an empty /run. The daemon lives as
# long as the bats file.

CALLERS_IMAGE=docker.io/library/brig-test:latest

# The image of the tests as a tar file, made once.
image_tar() {
	local rootfs file new
	rootfs=$(busybox_rootfs)
	file=$rootfs.tar
	if [ ! -e "$file" ]; then
		new=$(mktemp "$BRIG_TEST_CACHE/.new.XXXXXX")
		"$TESTS_LIB/image" "$rootfs" "$new" "$CALLERS_IMAGE" || skip "no image could be made"
		chmod 644 "$new"
		mv "$new" "$file"
	fi
	echo "$file"
}

# on_pty COMMAND...: with a terminal of 40 rows and 100 columns; standard output and error are
# $output, without carriage returns.
on_pty() {
	run script -qefc "stty rows 40 cols 100 -onlcr; exec ${*@Q}" "$T/typescript" </dev/null
	output=${output//$'\r'/}
	# How a terminal echoes the end of our own input.
	output=${output//'^@'/}
}

# --- containerd ----------------------------------------------------------------------------------

# start_containerd [FILE]: with what FILE adds to its configuration; without, there is no CRI.
start_containerd() {
	local disabled='"io.containerd.grpc.v1.cri", '
	[ $# = 0 ] || disabled=
	cat >"$T/containerd.toml" - "$@" <<END
version = 2
root = "$T/containerd"
state = "/run/containerd"
disabled_plugins = [ $disabled"io.containerd.internal.v1.opt",
	"io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
	"io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs" ]
[grpc]
address = "/run/containerd/containerd.sock"
[ttrpc]
address = "/run/containerd/containerd.sock.ttrpc"
END
	# ctr forgets which runtime it was told when it makes a user namespace.
	mkdir "$T/bin"
	ln -s "$BRIG" "$T/bin/runc"
	PATH=$T/bin:$PATH unshare --mount --propagation private bash -c '
		mount -t tmpfs -o mode=755 tmpfs /run && mkdir /run/containerd &&
		mount -t tmpfs -o mode=755 tmpfs /var/lib &&
		exec containerd -c "$0/containerd.toml"' "$T" >"$T/containerd.log" 2>&1 3>&- &
	CONTAINERD_PID=$!
	NS=${T##*/}
	NS=${NS//./-}
	export CONTAINERD_PID NS
	wait_for 30 containerd_is_up || fail "containerd does not answer:" "$(cat "$T/containerd.log")"
}

containerd_is_up() {
	kill -0 "$CONTAINERD_PID" || return
	grep -q 'successfully booted' "$T/containerd.log"
}

stop_containerd() {
	[ -n "${CONTAINERD_PID:-}" ] || return 0
	kill "$CONTAINERD_PID" 2>/dev/null || true
	wait "$CONTAINERD_PID" 2>/dev/null || true
}

# What runs beside the daemon, in its mount namespace: a command prefix for other programs too. No
# call of a client may hang longer than a test.
set_beside() {
	BESIDE=(timeout --foreground -k 1 60 nsenter "--mount=/proc/$CONTAINERD_PID/ns/mnt" "--wdns=$T"
		env CONTAINERD_ADDRESS=/run/containerd/containerd.sock "CONTAINERD_NAMESPACE=$NS")
}

beside_containerd() {
	[ -n "${BESIDE:-}" ] || set_beside
	"${BESIDE[@]}" "$@"
}

ctr() { beside_containerd ctr "$@"; }

# ctr_run ID [OPTION...] -- COMMAND...: from the image of the tests, by brig.
ctr_run() {
	local id=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	ctr run --runc-binary "$BRIG" "${options[@]}" "$CALLERS_IMAGE" "$id" "$@"
}

# --- A bats file with one containerd -------------------------------------------------------------

containerd_setup_file() {
	command -v containerd >/dev/null || return 0
	brig_setup
	export MARK CGROUPS_BEFORE
	start_containerd "$@"
	ctr images import "$(image_tar)" >/dev/null
}

containerd_teardown_file() {
	local status=0
	[ -n "${CONTAINERD_PID:-}" ] || return 0
	stop_containerd
	remove_parent_cgroups "$NS" || status=1
	brig_teardown || status=1
	return $status
}

containerd_setup() {
	need_command containerd
	need_command ctr
	set_beside
	ID=t$BATS_TEST_NUMBER
}

containerd_teardown() {
	[ -n "${CONTAINERD_PID:-}" ] || return 0
	[ -n "${BATS_TEST_COMPLETED:-}" ] || tail -n 5 "$T/containerd.log"
	assert_containerd_is_empty || { remove_all && false; }
}

remove_all() {
	local id
	for id in $(ctr containers ls -q); do
		ctr tasks rm -f "$id"
		ctr containers rm "$id"
	done
}

task_is() { ctr tasks ls | grep -qE "^$1 .* $2"; }

# A running container of this test.
start_task() {
	ctr_run "$ID" --detach "$@" -- sleep 1000
}

stop_task() {
	ctr tasks rm -f "$ID" || true
	ctr containers rm "$ID"
}

# What containerd and brig still know, and cgroups.
containerd_leftovers() {
	ctr containers ls -q
	ls -d "/proc/$CONTAINERD_PID/root/run/containerd/runc"/*/* 2>/dev/null
	find /sys/fs/cgroup -mindepth 2 -path "*/$NS/*" -type d
}

assert_containerd_is_empty() {
	local left
	left=$(containerd_leftovers)
	[ -z "$left" ] || fail "left in containerd, the state root or cgroups:" "$left"
}

# The cgroup above those of the containers is made by brig, and nobody's to delete.
# Root's tests run beside those of a user.
remove_parent_cgroups() {
	local dir
	for dir in /sys/fs/cgroup/"$1" /sys/fs/cgroup/*/"$1"; do
		[ ! -O "$dir" ] || rmdir "$dir"
	done
}

# --- The CRI plugin ------------------------------------------------------------------------------

# What kubelet's containerd has in its configuration; pods get a veth pair.
cri_config() {
	cat >"$T/cri.toml" <<END
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "$CALLERS_IMAGE"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "$T/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "$BRIG"
END
	mkdir "$T/cni"
	jq -n '{cniVersion: "0.4.0", name: "brig-test", plugins: [{type: "ptp", ipam: {type: "host-local",
		subnet: "10.231.77.0/24", dataDir: "\($dir)/ipam"}}]}' --arg dir "$T" \
		>"$T/cni/10-brig.conflist"
}

# One client for all calls of a test, for it takes longer to start than a call.
open_cri() {
	# Without its time limit of one call.
	coproc CRI { exec timeout -k 1 200 "${BESIDE[@]:5}" "$TESTS_LIB/cri" /run/containerd/containerd.sock 3>&-; }
}

close_cri() {
	[ -n "${CRI_PID:-}" ] || return 0
	local pid=$CRI_PID to=${CRI[1]}
	exec {to}>&-
	wait "$pid"
}

# cri METHOD [REQUEST]: sets $status, $output (the answer) and $stderr.
cri() {
	printf '%s %s\n' "$1" "${2//$'\n'/ }" >&"${CRI[1]}"
	IFS= read -r output <&"${CRI[0]}" || fail "the client has ended"
	status=0 stderr=
	[[ $output != '! '* ]] || { status=1 stderr=${output#! } output=; }
}

# The same; a failure fails the test.
cri_ok() {
	cri "$@"
	[ "$status" = 0 ] || fail "$stderr"
}

# --- A bats file with pods ----------------------------------------------------------------------

cri_setup_file() {
	command -v containerd >/dev/null && /usr/bin/python3 -c 'import grpc' 2>/dev/null || return 0
	brig_setup
	export MARK CGROUPS_BEFORE
	cri_config
	start_containerd "$T/cri.toml"
	NS=k8s.io
	ctr images import "$(image_tar)" >/dev/null
	PARENT=$(new_id pods)
	export NS PARENT
}

cri_teardown_file() {
	[ -z "${CONTAINERD_PID:-}" ] || remove_parent_cgroups "$PARENT" || true
	containerd_teardown_file
}

cri_setup() {
	need_command containerd
	/usr/bin/python3 -c 'import grpc' 2>/dev/null || skip "python3-grpcio is not installed"
	set_beside
	POD_CONFIG=$(jq -n --arg n "pod$BATS_TEST_NUMBER" --arg dir "$T/logs" --arg parent "/$PARENT" '{
		metadata: {name: $n, uid: $n, namespace: "default"}, hostname: $n, log_directory: $dir,
		linux: {cgroup_parent: $parent, sysctls: {"net.ipv4.ip_forward": "1"}}}')
	open_cri
}

cri_teardown() {
	[ -n "${CONTAINERD_PID:-}" ] || return 0
	close_cri
	[ -n "${BATS_TEST_COMPLETED:-}" ] || { tail -n 5 "$T/containerd.log" && remove_all; }
	assert_containerd_is_empty
	[ -z "$(find /sys/fs/cgroup -mindepth 2 -path "*/$PARENT/*" -type d)" ]
}

# run_pod [FILTER]: sets $POD.
run_pod() {
	POD_CONFIG=$(jq "${1:-.}" <<<"$POD_CONFIG")
	cri_ok RunPodSandbox "{\"config\": $POD_CONFIG}"
	POD=$(jget .pod_sandbox_id)
}

# run_container NAME [FILTER]: sets $CTR.
run_container() {
	local config
	config=$(jq -n --arg name "$1" --arg image "$CALLERS_IMAGE" '{metadata: {name: $name},
		image: {image: $image}, command: ["sleep", "1000"], log_path: "\($name).log"} | '"${2:-.}")
	cri_ok CreateContainer \
		"{\"pod_sandbox_id\": \"$POD\", \"config\": $config, \"sandbox_config\": $POD_CONFIG}"
	CTR=$(jget .container_id)
	cri_ok StartContainer "{\"container_id\": \"$CTR\"}"
}

# exec_sync COMMAND...: in $CTR.
exec_sync() {
	cri_ok ExecSync "$(jq -n --arg id "$CTR" '{container_id: $id, cmd: $ARGS.positional, timeout: 20}' \
		--args -- "$@")"
}

remove_pod() {
	cri_ok StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}"
	cri_ok RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}"
}

container_has_exited() {
	cri ContainerStatus "{\"container_id\": \"$CTR\"}"
	[ "$(jget .status.state)" = 2 ]
}

# --- podman --------------------------------------------------------------------------------------

# podman_setup_file [MANAGER]: systemd has its sockets in /run, so that is not covered for it.
podman_setup_file() {
	PODMAN_CGROUPS=${1:-cgroupfs}
	export PODMAN_CGROUPS
	command -v podman >/dev/null || return 0
	brig_setup
	export MARK CGROUPS_BEFORE
	PODMAN_READY=$T
	export PODMAN_READY
	export CONTAINERS_CONF=$T/containers.conf CONTAINERS_STORAGE_CONF=$T/storage.conf
	mkdir -p "$T"/{xdg,home,net,libpod,storage,runroot}
	chmod 700 "$T/xdg"
	podman_config
	# Where root's podman, conmon and brig keep their state.
	if [ "$EUID" = 0 ] && [ "$PODMAN_CGROUPS" = cgroupfs ]; then
		unshare --mount --propagation private bash -c '
			mount -t tmpfs -o mode=755 tmpfs /run && exec sleep infinity' 3>&- &
		PODMAN_HOLDER=$!
		export PODMAN_HOLDER
		wait_for 5 holder_is_ready
	fi
	podman load -q -i "$(image_tar)" >/dev/null
}

holder_is_ready() { [ "$(<"/proc/$PODMAN_HOLDER/comm")" = sleep ]; }

podman_config() {
	local driver=overlay
	# Without root, Linux 6.1 has no overlay on a tmpfs.
	if [ "$EUID" != 0 ] && in_vm; then
		driver=vfs
	fi
	cat >"$CONTAINERS_CONF" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "$PODMAN_CGROUPS"
events_logger = "file"
runtime = "brig"
tmp_dir = "$T/libpod"
static_dir = "$T/storage/libpod"
volume_path = "$T/storage/volumes"
lock_type = "file"
runtime_supports_json = ["brig"]
runtime_supports_nocgroups = ["brig"]
runtime_supports_nocgroup = ["brig"]
[engine.runtimes]
brig = ["$BRIG"]
[network]
network_config_dir = "$T/net"
END
	cat >"$CONTAINERS_STORAGE_CONF" <<END
[storage]
driver = "$driver"
graphroot = "$T/storage"
rootless_storage_path = "$T/storage"
runroot = "$T/runroot"
END
	mkdir -p "$T/home/.config/containers"
	echo '{"default": [{"type": "insecureAcceptAnything"}]}' \
		>"$T/home/.config/containers/policy.json"
}

# The command prefix of what runs beside podman.
set_podman() {
	PODMAN=(timeout --foreground -k 1 60)
	[ -z "${PODMAN_HOLDER:-}" ] ||
		PODMAN+=(nsenter "--mount=/proc/$PODMAN_HOLDER/ns/mnt" "--wdns=$T")
	PODMAN+=(env "XDG_RUNTIME_DIR=$T/xdg" "HOME=$T/home")
}

podman() {
	[ -n "${PODMAN:-}" ] || set_podman
	"${PODMAN[@]}" podman "$@"
}

# podman_run OPTION... -- COMMAND...: the image of the tests, without a network.
podman_run() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	podman run --network none "${options[@]}" "$CALLERS_IMAGE" "$@"
}

podman_setup() {
	need_command podman
	need_command conmon
	[ -n "${PODMAN_READY:-}" ] || skip "podman cannot be set up here"
	set_podman
	NAME=t$BATS_TEST_NUMBER
}

podman_teardown() {
	local left
	[ -n "${PODMAN_READY:-}" ] || return 0
	left=$(podman_leftovers)
	[ -z "$left" ] || { podman rm -fa -t 0 && fail "left in podman, the state root or cgroups:" "$left"; }
}

podman_leftovers() {
	local root=$T/xdg/brig
	[ "$EUID" != 0 ] || root=/proc/${PODMAN_HOLDER:-self}/root/run/brig
	podman ps -aq
	ls -d "$root"/* 2>/dev/null
	# Root's tests run beside those of a user.
	find /sys/fs/cgroup -name 'libpod-*' -type d -uid "$EUID" || true
}

podman_teardown_file() {
	local status=0 name
	[ -n "${PODMAN_READY:-}" ] || return 0
	# The process that keeps the user namespace, and files that belong to subordinate ids.
	if [ "$EUID" != 0 ]; then
		podman unshare rm -rf "$T/storage" "$T/runroot"
		kill "$(cat "$T/libpod/pause.pid" "$T/xdg/libpod/tmp/pause.pid" 2>/dev/null)" || true
	elif [ -n "${PODMAN_HOLDER:-}" ]; then
		kill "$PODMAN_HOLDER"
		wait "$PODMAN_HOLDER" 2>/dev/null || true
	else
		systemctl stop machine.slice
		umount "$T/storage/overlay"
	fi
	# What podman makes for itself at the top.
	for name in libpod_parent/conmon libpod_parent podman_probe; do
		remove_parent_cgroups "$name" || status=1
	done
	brig_teardown || status=1
	return $status
}
