#!/usr/bin/env bats
# places: root
# Images between brig-docker and the real programs: what `docker save` writes is loaded and looks as
# `docker export` shows it; what `brig-docker save` writes is taken by docker, podman, skopeo and
# umoci. dockerd has a data root of its own and makes no network.

load ../lib/common
load ../lib/docker

setup_file() {
	local dir
	command -v dockerd docker containerd >/dev/null || return 0
	dir=$(mktemp -d "${TMPDIR:-/tmp}/brig-dockerd.XXXXXX")
	export DOCKERD_DIR=$dir
	dockerd --data-root "$dir/data" --exec-root "$dir/exec" --pidfile "$dir/pid" -H "unix://$dir/sock" \
		--iptables=false --ip6tables=false --bridge=none --storage-driver=vfs \
		>"$dir/log" 2>&1 3>&- 4>&- &
	echo $! >"$dir/child"
	timeout 60 sh -c 'until docker -H "unix://$1/sock" info >/dev/null 2>&1; do sleep 0.1; done' - "$dir" ||
		touch "$dir/failed"
}

teardown_file() {
	[ -n "${DOCKERD_DIR:-}" ] || return 0
	kill "$(cat "$DOCKERD_DIR/child")" 2>/dev/null || true
	timeout 30 tail --pid="$(cat "$DOCKERD_DIR/child")" -f /dev/null || true
	rm -rf "$DOCKERD_DIR"
}

setup() {
	docker_setup
	unset DOCKER_HOST
}

# Containers are only made here, for their files to be looked at.
teardown() {
	dk rm -f $(dk ps -aq) >/dev/null 2>&1 || true
	docker_teardown
}

real() { command docker -H "unix://$DOCKERD_DIR/sock" "$@"; }

need_dockerd() {
	[ -n "${DOCKERD_DIR:-}" ] || skip "docker.io is not installed"
	[ ! -e "$DOCKERD_DIR/failed" ] || fail "dockerd does not start: $(tail -n 3 "$DOCKERD_DIR/log")"
}

listing() { "$TESTS_LIB/layered-image" --list; }

@test "image, docker: what docker saved is loaded with the same id and the same files" {
	need_dockerd
	"$TESTS_LIB/layered-image" "$T/made.tar" layered:1
	real load -qi "$T/made.tar"
	real save -o "$T/saved.tar" layered:1
	run "$BRIG_DOCKER" load -i "$T/saved.tar"
	assert_status 0
	assert_equal "$output" "Loaded image: layered:1"
	assert_equal "$("$BRIG_DOCKER" images -q --no-trunc)" "$(real images -q --no-trunc layered:1)"
	real export "$(real create --network none layered:1 true)" | listing >"$T/theirs"
	"$BRIG_DOCKER" export "$("$BRIG_DOCKER" create --network none layered:1 true)" | listing >"$T/ours"
	# vfs keeps no user.* attributes and this archive has none; file capabilities it keeps
	grep -q 'security.capability' "$T/theirs"
	[ "$(wc -l <"$T/ours")" -gt 25 ]
	diff "$T/theirs" "$T/ours"
}

@test "image, docker: what brig-docker saves is the same image for docker" {
	need_dockerd
	"$TESTS_LIB/layered-image" "$T/made.tar" layered:2
	"$BRIG_DOCKER" load -qi "$T/made.tar"
	"$BRIG_DOCKER" tag layered:2 other/name:3
	"$BRIG_DOCKER" save -o "$T/ours.tar" layered:2 other/name:3
	real rmi -f layered:1 layered:2 >/dev/null 2>&1 || true
	run real load -i "$T/ours.tar"
	assert_status 0
	assert_contains "$output" "Loaded image: layered:2"
	assert_contains "$output" "Loaded image: other/name:3"
	assert_equal "$(real images -q --no-trunc layered:2)" "$("$BRIG_DOCKER" images -q --no-trunc layered:2)"
	real export "$(real create --network none layered:2 true)" | listing >"$T/theirs"
	"$BRIG_DOCKER" export "$("$BRIG_DOCKER" create --network none layered:2 true)" | listing >"$T/ours"
	diff "$T/theirs" "$T/ours"
}

@test "image, docker: podman, skopeo and umoci read what brig-docker saves" {
	local tried=0
	"$TESTS_LIB/layered-image" "$T/made.tar" layered:4
	"$BRIG_DOCKER" load -qi "$T/made.tar"
	"$BRIG_DOCKER" save layered:4 >"$T/ours.tar"
	id=$("$BRIG_DOCKER" images -q --no-trunc layered:4)
	if command -v podman >/dev/null; then
		tried=1
		podman="podman --root $T/podman --runroot $T/podman-run --storage-driver vfs"
		$podman load -qi "$T/ours.tar"
		assert_equal "sha256:$($podman inspect --type image -f '{{.Id}}' layered:4)" "$id"
		$podman rmi -af >/dev/null
	fi
	if command -v skopeo >/dev/null; then
		tried=1
		skopeo inspect --config "docker-archive:$T/ours.tar" | jq -e '.config.Labels.l == "v"'
		skopeo inspect --config "oci-archive:$T/ours.tar" | jq -e '.config.Labels.l == "v"'
		# the store itself is an OCI layout
		skopeo inspect "oci:$BRIG_DOCKER_DATA/images:layered:4" | jq -e '.Layers | length == 3'
	fi
	if command -v umoci >/dev/null; then
		tried=1
		mkdir "$T/oci"
		tar -C "$T/oci" -xf "$T/ours.tar"
		umoci unpack --image "$T/oci:4" "$T/bundle"
		tar --xattrs --xattrs-include=security.capability --numeric-owner -C "$T/bundle/rootfs" -cf - . |
			listing >"$T/theirs"
		"$BRIG_DOCKER" export "$("$BRIG_DOCKER" create --network none layered:4 true)" | listing >"$T/ours"
		diff "$T/theirs" "$T/ours"
	fi
	[ $tried = 1 ] || skip "none of podman, skopeo and umoci is installed"
}

@test "image, docker: OCI archives of skopeo, gzip and zstd, one and the other" {
	command -v skopeo >/dev/null || skip "skopeo is not installed"
	"$TESTS_LIB/layered-image" "$T/made.tar" layered:5
	"$BRIG_DOCKER" load -qi "$T/made.tar"
	"$BRIG_DOCKER" export "$("$BRIG_DOCKER" create --network none layered:5 true)" | listing >"$T/want"
	for format in gzip zstd; do
		skopeo copy -q --dest-compress-format $format "docker-archive:$T/made.tar" "oci-archive:$T/$format.tar:oci:$format"
		export BRIG_DOCKER_DATA=$T/data-$format
		run "$BRIG_DOCKER" load -i "$T/$format.tar"
		assert_status 0
		assert_equal "$output" "Loaded image: oci:$format"
		"$BRIG_DOCKER" export "$("$BRIG_DOCKER" create --network none oci:$format true)" | listing >"$T/have"
		diff "$T/want" "$T/have"
		"$BRIG_DOCKER" save oci:$format | tar -tf - | grep -q manifest.json
	done
}

@test "image, docker: push and pull through a registry" {
	command -v docker-registry >/dev/null || skip "docker-registry is not installed"
	command -v skopeo >/dev/null || skip "skopeo is not installed"
	local port registry name
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	printf 'version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\nhttp: {addr: "127.0.0.1:%s"}\n' \
		"$T/registry" "$port" >"$T/registry.yml"
	docker-registry serve "$T/registry.yml" >"$T/registry.log" 2>&1 3>&- &
	registry=$!
	timeout 20 bash -c "until (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do sleep 0.1; done"
	"$TESTS_LIB/layered-image" "$T/made.tar" layered:6 "$(command -v busybox)"
	"$BRIG_DOCKER" load -qi "$T/made.tar"
	name=127.0.0.1:$port/some/name:6
	id=$("$BRIG_DOCKER" images -q --no-trunc layered:6)
	"$BRIG_DOCKER" tag layered:6 "$name"
	run "$BRIG_DOCKER" push "$name"
	assert_status 0
	assert_contains "$output" "6: digest: sha256:"
	"$BRIG_DOCKER" rmi layered:6 "$name"
	assert_equal "$("$BRIG_DOCKER" images -q)" ""
	run_apart "$BRIG_DOCKER" run --rm --network none "$name" cat /etc/f
	assert_equal "$output" second
	assert_contains "$stderr" "Unable to find image '$name' locally"
	assert_equal "$("$BRIG_DOCKER" images -q --no-trunc)" "$id"
	run "$BRIG_DOCKER" pull "$name"
	assert_contains "$output" "Status: Image is up to date for $name"
	digest=$("$BRIG_DOCKER" image inspect -f '{{index .RepoDigests 0}}' "$name")
	assert_equal "$("$BRIG_DOCKER" run --rm --network none "$digest" cat /etc/third)" 3
	"$BRIG_DOCKER" rmi -f "$id" >/dev/null
	"$BRIG_DOCKER" pull -q "$digest"
	assert_equal "$("$BRIG_DOCKER" images --digests --format '{{.Tag}} {{.Repository}}@{{.Digest}}')" "<none> $digest"
	run "$BRIG_DOCKER" pull "127.0.0.1:$port/no/such:1"
	assert_status 1
	assert_contains "$output" "Error response from daemon: "
	kill $registry
	wait $registry || true
}
