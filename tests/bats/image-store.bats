#!/usr/bin/env bats
# places: root rootless
# The image store: what brig-docker does with images, several at once, killed, on a full disk.

load ../lib/common
load ../lib/docker

setup() {
	docker_setup
	unset DOCKER_HOST
	IMAGE=$(dirname "$BRIG_DOCKER")/brig-image
	BUSYBOX=$(command -v busybox)
}

# Layers have directories without write permission and files of subordinate ids.
teardown() {
	local dir
	for dir in "$T"/data*; do
		[ ! -d "$dir/images/layers" ] || "$IMAGE" remove "$dir/images/layers" || true
	done
	docker_teardown
}

make_image() { "$TESTS_LIB/layered-image" "$T/$1.tar" "$1:1" "$BUSYBOX"; }

store_is_whole() {
	[ -z "$(ls "$BRIG_DOCKER_DATA/images/tmp")" ] || fail "left in tmp: $(ls "$BRIG_DOCKER_DATA/images/tmp")"
	python3 - "$BRIG_DOCKER_DATA/images" <<'END'
import hashlib, json, os, sys
root = sys.argv[1]
blobs = os.path.join(root, "blobs/sha256")
for name in os.listdir(blobs):
    with open(os.path.join(blobs, name), "rb") as f:
        assert hashlib.sha256(f.read()).hexdigest() == name, name
layers = set(os.listdir(os.path.join(root, "layers")))
for kind in ("ids", "refs"):
    for name in os.listdir(os.path.join(root, kind)):
        with open(os.path.join(root, kind, name)) as f:
            record = json.load(f)
        for layer in record["layers"]:
            assert layer["chain"][7:27] in layers, (name, layer)
        assert record["manifest"][7:] in os.listdir(blobs)
json.load(open(os.path.join(root, "index.json")))
END
}

@test "image store: load, run, tag, save, rmi" {
	make_image one
	run_dk load -i "$T/one.tar"
	assert_equal "$output" "Loaded image: one:1"
	run_dk run --rm --network none one:1 sh -c 'cat /etc/f /opaque/new /was-dir; ls /; test ! -e /opaque/gone'
	assert_status 0
	assert_contains "$output" $'second\nnewnow a file'
	dk tag one:1 ex.org/two:3
	dk save -o "$T/saved.tar" ex.org/two:3
	run_dk rmi one:1
	assert_equal "$output" "Untagged: one:1"
	run_dk rmi ex.org/two:3
	assert_equal "$(grep -c ^Deleted: <<<"$output")" 4
	assert_equal "$(dk images -q)" ""
	[ -z "$(ls "$BRIG_DOCKER_DATA/images/blobs/sha256" "$BRIG_DOCKER_DATA/images/layers" | grep -v :)" ]
	run_dk load <"$T/saved.tar"
	assert_equal "$output" "Loaded image: ex.org/two:3"
	store_is_whole
}

@test "image store: compressed archives, from a file and from a pipe" {
	make_image one
	for program in gzip xz zstd; do
		command -v $program >/dev/null || continue
		$program -c <"$T/one.tar" >"$T/one.packed"
		BRIG_DOCKER_DATA=$T/data-$program dk load -qi "$T/one.packed"
		cat "$T/one.packed" | BRIG_DOCKER_DATA=$T/data-$program-pipe dk load -q
		BRIG_DOCKER_DATA=$T/data-$program-pipe dk image inspect -f '{{.Id}}' one:1
		BRIG_DOCKER_DATA=$T/data-$program dk run --rm --network none one:1 cat /etc/third
	done
}

@test "image store: import, with changes, and a directory without copying it" {
	mkdir -p "$T/rootfs/bin"
	cp "$BUSYBOX" "$T/rootfs/bin/sh"
	tar -C "$T/rootfs" -cf "$T/rootfs.tar" .
	run_dk import -c 'CMD ["sh", "-c", "echo $V"]' -c 'ENV V="a b"' -m note "$T/rootfs.tar" imported
	assert_status 0
	assert_contains "$output" sha256:
	assert_equal "$(dk run --rm --network none imported)" "a b"
	assert_equal "$(dk history --format '{{.Comment}}' imported)" note
	run_dk import -c 'NONSENSE x' "$T/rootfs.tar" imported
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: NONSENSE is not a valid change command"
	run_dk import --link -c 'ENTRYPOINT ["sh", "-c"]' "$T/rootfs" linked
	assert_status 0
	assert_equal "$(dk run --rm --network none linked 'echo x >/new && cat /new')" x
	[ ! -e "$T/rootfs/new" ]
	echo late >"$T/rootfs/late"
	assert_equal "$(dk run --rm --network none linked 'read l </late; echo $l')" late
	run_dk save linked
	assert_status 1
	assert_contains "$stderr" "is a directory of this host and cannot be saved"
	dk rmi linked imported >/dev/null
	[ -e "$T/rootfs/bin/sh" ]
}

@test "image store: 127 layers, each hiding something of the one below" {
	"$TESTS_LIB/layered-image" --many 127 "$T/many.tar" many:1 "$BUSYBOX"
	dk load -qi "$T/many.tar"
	assert_equal "$(dk run --rm --network none many:1 ls /d)" 126
	assert_equal "$(dk run --rm --network none --read-only many:1 ls /d)" 126
	dk create --network none --name c1 many:1 >/dev/null
	dk export c1 | tar -tf - | grep '^d/' | sort | tr '\n' ' ' >"$T/list"
	assert_equal "$(cat "$T/list")" "d/ d/126 "
	dk rm c1 >/dev/null
	"$TESTS_LIB/layered-image" --many 128 "$T/more.tar" more:1 "$BUSYBOX"
	run_dk load -i "$T/more.tar"
	assert_status 1
	assert_contains "$stderr" "at most 127"
	dk rmi many:1 >/dev/null
}

@test "image store: eight loads at once, of the same and of different images" {
	local i pids=()
	make_image one
	for i in 1 2 3 4; do
		"$TESTS_LIB/layered-image" --many $((i + 1)) "$T/other$i.tar" other$i:1 "$BUSYBOX"
	done
	for i in 1 2 3 4; do
		dk load -qi "$T/one.tar" >"$T/out-one$i" 2>&1 &
		pids+=($!)
		dk load -qi "$T/other$i.tar" >"$T/out-other$i" 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || fail "$(cat "$T"/out-*)"
	done
	store_is_whole
	assert_equal "$(dk images -q | sort -u | wc -l)" 5
	assert_equal "$(dk run --rm --network none other4:1 ls /d)" 4
	dk rmi $(dk images -q) >/dev/null
	[ -z "$(ls "$BRIG_DOCKER_DATA/images/layers")" ]
}

@test "image store: a load that is killed leaves nothing that the next one does not clear" {
	local i
	make_image one
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$IMAGE" --data "$BRIG_DOCKER_DATA" load "$T/one.tar" >/dev/null 2>&1 &
		# somewhere between its start and its end
		python3 -c "import time; time.sleep(0.012 * $i)"
		kill -KILL $! 2>/dev/null || true
		wait $! 2>/dev/null || true
		[ $((i % 4)) != 0 ] || dk rmi one:1 >/dev/null 2>&1 || true
	done
	dk load -qi "$T/one.tar"
	store_is_whole
	assert_equal "$(dk run --rm --network none one:1 cat /etc/third)" 3
	dk rmi one:1 >/dev/null
}

@test "image store: a full disk is an error and leaves nothing" {
	[ "$EUID" = 0 ] || skip "only root can make a small file system"
	make_image one
	mkdir "$T/data"
	mount -t tmpfs -o size=4m,mode=700 small "$T/data"
	run_dk load -i "$T/one.tar"
	assert_status 1
	assert_contains "$stderr" "No space left on device"
	assert_equal "$(wc -l <<<"$stderr")" 1
	[ -z "$(ls "$T/data/images/tmp" "$T/data/images/ids" "$T/data/images/refs" | grep -v :)" ]
	assert_equal "$(dk images -q)" ""
	umount "$T/data"
}

@test "image store: rmi and containers" {
	make_image one
	dk load -qi "$T/one.tar"
	dk create --network none --name c1 one:1 cat /etc/third >/dev/null
	run_dk rmi one:1
	assert_status 1
	assert_contains "$stderr" "conflict: unable to remove repository reference \"one:1\" (must force) - container"
	id=$(dk images -q one:1)
	run_dk rmi "$id"
	assert_status 1
	assert_contains "$stderr" "(must be forced) - image is being used by stopped container"
	# with force it goes, and the container still has its files
	dk rmi -f one:1 >/dev/null
	assert_equal "$(dk images -q)" ""
	run_dk start -a c1
	assert_equal "$output" 3
	dk rm c1 >/dev/null
	dk image prune -f >/dev/null
	[ -z "$(ls "$BRIG_DOCKER_DATA/images/layers")" ]
	run_dk rmi host
	assert_status 1
	assert_contains "$stderr" "built in"
}

@test "image store: a tag of another image is taken over in words" {
	"$TESTS_LIB/layered-image" --many 2 "$T/a.tar" same:1 "$BUSYBOX"
	"$TESTS_LIB/layered-image" --many 3 "$T/b.tar" same:1 "$BUSYBOX"
	dk load -qi "$T/a.tar"
	old=$(dk images -q --no-trunc)
	run_dk load -i "$T/b.tar"
	assert_contains "$output" "The image same:1 already exists, renaming the old one with ID $old to empty string"
	assert_equal "$(dk images --filter dangling=true -q --no-trunc)" "$old"
	run_dk image prune -f
	assert_contains "$output" "deleted: $old"
	assert_equal "$(dk images -q | wc -l)" 1
	dk rmi same:1 >/dev/null
}

@test "image store: bars on a terminal, none elsewhere" {
	make_image bars
	run script -qec "stty cols 120; '$BRIG_DOCKER' load -i '$T/bars.tar'" /dev/null
	assert_status 0
	assert_equal "$(grep -o '[0-9a-f]*: Loading layer \[=*>\] ' <<<"$output" | sort -u | wc -l)" 3
	assert_contains "$output" "Loading layer [==================================================>]  10.24kB/10.24kB"
	assert_contains "$output" "Loaded image: bars:1"
	dk rmi bars:1 >/dev/null
	run script -qec "stty cols 80; '$BRIG_DOCKER' load <'$T/bars.tar'" /dev/null
	assert_contains "$output" "Loading layer  10.24kB/10.24kB"
	dk rmi bars:1 >/dev/null
	assert_equal "$(script -qec "'$BRIG_DOCKER' load -q -i '$T/bars.tar'" /dev/null)" $'Loaded image: bars:1\r'
	dk rmi bars:1 >/dev/null
	assert_equal "$(dk load -i "$T/bars.tar")" "Loaded image: bars:1"
}
