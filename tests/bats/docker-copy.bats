#!/usr/bin/env bats
# places: root rootless
# The files of a container from outside: cp both ways, diff, commit, export; and a container that does
# all it can to lead cp astray.

load ../lib/common
load ../lib/docker

setup() {
	docker_setup
	"$TESTS_LIB/layered-image" "$T/i.tar" layered:1 "$(command -v busybox)"
	dk load -qi "$T/i.tar" >/dev/null
	SINCE=$(date +%s.%N)
	cd "$T" || return
}

# Layers have directories without write permission and files of subordinate ids.
teardown() {
	cd /
	dk rm -f $(dk ps -aq) >/dev/null 2>&1 || true
	"$(dirname "$BRIG_DOCKER")/brig-image" remove "$BRIG_DOCKER_DATA/images/layers" || true
	docker_teardown
}

# The same for a running and for a stopped container; what differs is asked of the caller's functions.
copy_both_ways() { # CONTAINER
	local c=$1
	dk cp src "$c:/made"
	dk cp src "$c:/made"
	dk cp src/. "$c:/keep"
	dk cp src/f "$c:/was-file/f2"
	dk cp "$c:/made" out
	assert_equal "$(cd out && find . | sort | tr '\n' ' ')" ". ./f ./l ./src ./src/f ./src/l ./src/sub ./src/sub/g ./sub ./sub/g "
	dk cp "$c:/keep/." flat
	assert_equal "$(cat flat/old flat/f flat/sub/g)" "oldone
two"
	dk cp "$c:was-file/f2" one
	assert_equal "$(cat one)" one
	assert_equal "$(stat -c %a one)" 654
	# links: as they are, or what they lead to; in both directions
	dk cp src/l "$c:/l1"
	dk cp -L src/l "$c:/l2"
	dk cp "$c:/l1" l1
	assert_equal "$(readlink l1)" f
	dk cp "$c:/l2" l2
	assert_equal "$(cat l2)" one
	dk cp -L "$c:/etc/up" up
	assert_equal "$(cat up)" old
	# tar streams
	tar -C src -cf - f sub | dk cp - "$c:/opaque"
	assert_equal "$(dk cp "$c:/opaque" - | tar -tf - | sort | tr '\n' ' ')" "opaque/ opaque/f opaque/new opaque/sub/ opaque/sub/g "
	# a bind is the host's directory
	dk cp src/f "$c:/bind/in"
	assert_equal "$(cat bind/in)" one
	echo there >bind/from
	dk cp "$c:/bind/from" from
	assert_equal "$(cat from)" there
	rm -r out flat one l1 l2 up from bind/in
}

refusals() { # CONTAINER
	local text
	while IFS='|' read -r from to text; do
		run_dk cp "$from" "$to"
		assert_status 1
		[[ $stderr == *"$text" ]] || fail "cp $from $to: '$stderr', not '$text'"
		assert_equal "$output" ""
	done <<END
$1:/no/such|x|Error response from daemon: Could not find the file /no/such in container $1
$1:/no/such|-|Error response from daemon: Could not find the file /no/such in container $1
src/f|$1:/no/such/f|Error response from daemon: Could not find the file /no/such in container $1
$PWD/none|$1:/|lstat $PWD/none: no such file or directory
src/f|$1:/keep/none/|no such directory
src|$1:/etc/f|cannot copy directory
$1:/etc/f|none/x|invalid output path: directory "$PWD/none" does not exist
$1:/etc|src/f|cannot copy directory
$1:/a|$1:/b|copying between containers is not supported
a|b|must specify at least one container source
nosuch:/a|src/|Error response from daemon: No such container: nosuch
src/f|nosuch:/a/b|Error response from daemon: No such container: nosuch
END
	run_dk cp - "$1:/etc/f" </dev/null
	assert_status 1
	assert_equal "$stderr" "destination \"$1:/etc/f\" must be a directory"
}

@test "cp: both ways, of a container that runs and of one that does not" {
	mkdir -p src/sub bind
	echo one >src/f && chmod 654 src/f && echo two >src/sub/g && ln -s f src/l
	dk create --name still -v "$T/bind:/bind" layered:1 >/dev/null
	copy_both_ways still
	refusals still
	dk run -d --name runs --network none -v "$T/bind:/bind" -v vol:/vol --tmpfs /tmp layered:1 sleep 1000 >/dev/null
	copy_both_ways runs
	refusals runs
	assert_equal "$(dk exec runs cat /made/f)" one
	# what only a running one has
	dk cp src/f runs:/tmp/t
	dk cp src/f runs:/vol/v
	assert_equal "$(dk exec runs cat /tmp/t /vol/v)" "one
one"
	dk rm -f runs still >/dev/null
	dk volume rm vol >/dev/null
}

@test "cp: a read-only root takes nothing, its mounts do; an owner's number stays" {
	echo one >f
	mkdir bind bind-ro
	dk run -d --name ro --network none --read-only --tmpfs /tmp -v "$T/bind:/bind" -v "$T/bind-ro:/fixed:ro" \
		layered:1 sleep 1000 >/dev/null
	run_dk cp f ro:/f
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: container rootfs is marked read-only"
	run_dk cp f ro:/fixed/f
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: mounted volume is marked read-only"
	[ ! -e bind-ro/f ]
	dk cp f ro:/tmp/f
	dk cp f ro:/bind/f
	assert_equal "$(dk exec ro cat /tmp/f /bind/f; dk exec ro stat -c %u:%g /tmp/f)" "one
one
$(id -u):$(id -g)"
	dk cp ro:/etc/f have
	assert_equal "$(cat have)" second
	dk stop -t 0 ro >/dev/null
	run_dk cp f ro:/f
	assert_equal "$stderr" "Error response from daemon: container rootfs is marked read-only"
	dk rm ro >/dev/null
}

@test "cp: links that the container swaps meanwhile lead nowhere" {
	local i
	mkdir host bind
	echo secret >host/secret
	echo harmless >f
	# /d is by turns a directory and a link out: to a path of the host, up and away, through /proc
	dk run -d --name evil --network none -v "$T/bind:/bind" layered:1 sh -c "
		b=/bin/busybox
		while :; do
			for to in $T/host ../../../../../../../..$T/host /proc/1/root$T/host /proc/self/root /; do
				\$b rm -rf /d /bind/d; \$b mkdir /d /bind/d
				echo mine >/d/secret; echo mine >/bind/d/secret
				\$b rm -rf /d /bind/d; \$b ln -s \$to /d; \$b ln -s \$to /bind/d
			done
		done" >/dev/null
	for i in $(seq 8); do
		dk cp f evil:/d/f 2>/dev/null || true
		dk cp f evil:/bind/d/f 2>/dev/null || true
		dk cp evil:/d/secret got 2>/dev/null || true
		dk cp evil:/bind/d/secret - 2>/dev/null >got.tar || true
		! grep -qs secret got || fail "the host's file was read"
		! tar -xOf got.tar 2>/dev/null | grep -q secret || fail "the host's file was read"
		dk cp evil:/d tree 2>/dev/null || true
		[ -L tree ] || [ ! -e tree/secret ] || [ "$(cat tree/secret)" != secret ] || fail "the host's directory was read"
		rm -rf got tree
	done
	assert_equal "$(ls host)" secret
	assert_equal "$(cat host/secret)" secret
	[ ! -e /f ] || fail "the file was written to the host's root"
	# the end of it as a stopped container, with a link at the place of a parent
	dk stop -t 0 evil >/dev/null
	rm -rf bind/d && ln -s "$T/host" bind/d
	run_dk cp f evil:/bind/d/f
	run_dk cp evil:/bind/d/secret got
	assert_equal "$(ls host)" secret
	[ ! -e got ] || [ "$(cat got)" != secret ] || fail "the host's file was read"
	dk rm evil >/dev/null
}

@test "diff, commit, export: the changes, paused meanwhile, and the same files again" {
	dk run -d --name dd --network none layered:1 sh -c 'echo new >/keep/new; echo more >>/etc/f
		/bin/busybox rm /old; /bin/busybox rm -rf /opaque; sleep 1000' >/dev/null
	wait_for 5 gone_opaque
	assert_equal "$(dk diff dd)" "C /etc
C /etc/f
C /keep
A /keep/new
D /old
D /opaque"
	run_dk commit -a me -m why -c 'CMD ["cat","/keep/new"]' -c 'ENV A="b c"' dd done:1
	assert_status 0
	assert_equal "$output" "$(dk images -q --no-trunc done:1)"
	# of commit itself, and of this question
	if has_cgroup dd; then
		assert_equal "$stderr" ""
		assert_equal "$(dk events --since "$SINCE" --until "$(date +%s.%N)" --filter container=dd --format '{{.Action}}' |
			grep pause | tr '\n' ' ')" "pause unpause pause unpause "
		# who is killed meanwhile leaves nothing paused
		"$BRIG_DOCKER" commit dd killed:1 >/dev/null &
		kill -9 $!
		wait $! || true
	else
		assert_contains "$stderr" "WARNING: the container goes on while it is committed"
		run_dk commit --pause dd
		assert_status 1
		assert_contains "$stderr" "Cannot pause container"
	fi
	wait_for 5 runs_on dd
	assert_equal "$(dk run --rm --network none done:1)" new
	assert_equal "$(dk image inspect -f '{{.Author}},{{.Comment}},{{index .Config.Env 2}}' done:1)" "me,why,A=b c"
	dk export dd | "$TESTS_LIB/layered-image" --list >a
	dk create --name ee done:1 >/dev/null
	dk export -o e.tar ee
	"$TESTS_LIB/layered-image" --list <e.tar >b
	diff a b
	grep -q '^keep/new ' a
	! grep -q '^old \|^opaque' a || fail "what was removed is there"
	assert_equal "$(dk diff ee)" ""
	run_dk diff none
	assert_equal "$stderr" "Error response from daemon: No such container: none"
	run_dk export -o "$T/none/x" dd
	assert_status 1
	dk rm -f dd ee >/dev/null
}

gone_opaque() { ! dk exec dd ls /opaque >/dev/null 2>&1; }
has_cgroup() { dk pause "$1" >/dev/null 2>&1 && dk unpause "$1" >/dev/null; }
runs_on() { [ "$(dk inspect -f '{{.State.Status}}' "$1")" = running ] && timeout 5 "$BRIG_DOCKER" exec "$1" true; }
