# places: root
# The state directory when it is not what it should be: other people's, damaged, or in the way.
load ../lib/common
load ../lib/sandbox
load ../lib/live

ended() { [ "$("$BRIG" --root "$BRIG_ROOT" state "$1" | jq -r .status)" = stopped ]; }

# Not by run_brig: the first process keeps the streams.
create() { "$BRIG" --root "$BRIG_ROOT" create -b "$T/b" "$(new_id)" </dev/null >"$T/log" 2>&1; }

# Something that lives, in a cgroup of its own: $VICTIM, $VICTIM_CGROUP.
make_victim() {
	need_controller pids
	VICTIM_CGROUP=/sys/fs/cgroup/pids/brig-victim-${T##*-}
	mkdir "$VICTIM_CGROUP"
	sleep 100 &
	VICTIM=$!
	echo $VICTIM >"$VICTIM_CGROUP/cgroup.procs"
}

# end_victim: fails when it is dead already.
end_victim() {
	local alive=0
	kill -KILL $VICTIM || alive=1
	wait $VICTIM || true
	rmdir "$VICTIM_CGROUP" || alive=1
	return $alive
}

# forge FILE [ID]: a record as a killed sandbox leaves it, with the victim's cgroup.
forge() {
	jq -cn --arg id "${2:-${1##*/}}" --arg path "$VICTIM_CGROUP" '{version: 1, id: $id, phase: "running",
		ephemeral: true, cgroup: {manager: "fs", paths: [$path]}}' >"$1"
	chmod 1600 "$1"
}

@test "attack: what is no record of ours is left alone" {
	mkdir -m 700 "$BRIG_ROOT" "$BRIG_ROOT/sub"
	echo data >"$BRIG_ROOT/sub/data"
	: >"$BRIG_ROOT/empty"
	echo mine >"$BRIG_ROOT/mine"
	chmod 600 "$BRIG_ROOT"/{empty,mine}
	echo sticky >"$BRIG_ROOT/sticky"
	chmod 1600 "$BRIG_ROOT/sticky"
	mkfifo "$BRIG_ROOT/fifo"
	ln -s sticky "$BRIG_ROOT/link"
	sandbox -- true
	assert_status 0
	assert_equal "$(cd "$BRIG_ROOT" && echo *)" "empty fifo link mine sticky sub"
	assert_equal "$(cat "$BRIG_ROOT"/{sub/data,mine,sticky} | tr '\n' ' ')" "data mine sticky "
	run_brig list -q
	assert_equal "$output" ""
	run_brig delete --force sub
	[ -e "$BRIG_ROOT/sub/data" ]
	rm -r "$BRIG_ROOT"
}

@test "attack: a record under another name is not believed" {
	make_victim
	mkdir -m 700 "$BRIG_ROOT"
	forge "$BRIG_ROOT/forged" other
	sandbox -- true
	run_brig delete --force forged
	[ "$status" != 0 ]
	end_victim || fail "a cgroup was killed for it"
	rm -r "$BRIG_ROOT"
}

@test "attack: the files beside the records are not another user's" {
	make_bundle "$T/b"
	mkdir -m 1777 "$BRIG_ROOT"
	mkdir -m 700 "$T/elsewhere"
	ln -s "$T/elsewhere" "$BRIG_ROOT/.files"
	chown -h brigtest1 "$BRIG_ROOT/.files"
	run_brig create -b "$T/b" "$(new_id)" </dev/null
	assert_status 1
	assert_contains "$stderr" "open the files of container"
	[ -z "$(ls -A "$T/elsewhere")" ]
	rm "$BRIG_ROOT/.files"
	mkdir -m 700 "$BRIG_ROOT/.files"
	chown brigtest1 "$BRIG_ROOT/.files"
	run_brig create -b "$T/b" "$(new_id)" </dev/null
	assert_status 1
	run_brig run -b "$T/b" "$(new_id)"
	assert_status 0
	rm -r "$BRIG_ROOT"
}

@test "attack: a start that was killed before it wrote anything leaves no name behind" {
	mkdir -m 700 "$BRIG_ROOT"
	: >"$BRIG_ROOT/half"
	chmod 1600 "$BRIG_ROOT/half"
	sandbox -- true
	assert_status 0
	[ ! -e "$BRIG_ROOT/half" ]
}

@test "attack: a record that was forged by another user is not believed" {
	make_victim
	mkdir -m 1777 "$BRIG_ROOT"
	forge "$BRIG_ROOT/forged"
	chown brigtest1 "$BRIG_ROOT/forged"
	chmod 1600 "$BRIG_ROOT/forged"
	run_brig sandbox -- true
	run_brig kill --all forged KILL
	run_brig delete --force forged
	end_victim || fail "the cgroup of somebody else was killed"
	rm -r "$BRIG_ROOT"
}

@test "attack: nor is a whole state directory of another user, or a link to one" {
	make_victim
	mkdir -m 755 "$BRIG_ROOT"
	forge "$BRIG_ROOT/forged"
	chown -R brigtest1 "$BRIG_ROOT"
	run_brig sandbox -- true
	assert_status 125
	assert_contains "${stderr:-}" "belongs to another user"
	end_victim || fail "the cgroup of somebody else was killed"
	rm -r "$BRIG_ROOT"
	mkdir -m 700 "$T/mine"
	ln -s "$T/mine" "$BRIG_ROOT"
	chown -h brigtest1 "$BRIG_ROOT"
	run_brig sandbox -- true
	assert_status 125
	assert_contains "${stderr:-}" "belongs to another user"
	rm "$BRIG_ROOT"
}

@test "attack: a container whose first process was killed stays until it is deleted" {
	make_bundle "$T/b"
	create
	run_brig state "$(new_id)"
	kill -KILL "$(jget .pid)"
	wait_for 5 ended "$(new_id)"
	sandbox -- true
	assert_status 0
	run_brig state "$(new_id)"
	assert_json .status stopped
	run_brig delete "$(new_id)"
	assert_status 0
}

@test "attack: half a record is not the end of the container" {
	make_bundle "$T/b"
	create
	truncate -s -1 "$BRIG_ROOT/$(new_id)"
	run_brig state "$(new_id)"
	assert_json .status creating
	run_brig delete --force "$(new_id)"
	assert_status 0
}

# slowly CALL:when=N COMMAND [ARG...]: brig COMMAND..., in which the Nth CALL (N+: and later ones) begins 1.5 seconds late.
slowly() {
	local call=$1
	shift
	strace -D -f -q -o "$T/trace.${call%:*}" -e trace="${call%:*}" -e inject="${call/:/:delay_enter=1500000:}" \
		"$BRIG" --root "$BRIG_ROOT" "$@"
}

# Whether a command has the turn on the container (runtime/state.c).
turn_is_taken() { grep -q "OFDLCK .*:$(stat -c %i "$BRIG_ROOT/$1") 1 1$" /proc/locks; }

@test "attack: a container that is deleted and made again is not the one whose end its maker cleans up after" {
	need_command strace
	make_bundle "$T/b" sleep 1000
	slowly unlinkat:when=1+ --cgroup-manager disabled run -b "$T/b" "$(new_id)" </dev/null >"$T/log.run" 2>&1 3>&- &
	local maker=$! pid
	wait_for 20 is_recorded "$(new_id)"
	run_brig delete --force "$(new_id)"
	assert_status 0
	create
	pid=$("$BRIG" --root "$BRIG_ROOT" state "$(new_id)" | jq .pid)
	status=0
	wait "$maker" || status=$?
	assert_equal "$status" 137
	assert_equal "$(<"$T/log.run")" ""
	run_brig state "$(new_id)"
	assert_json .status created
	assert_json .pid "$pid"
	run_brig delete --force "$(new_id)"
	assert_status 0
}

@test "attack: what a command saves is not left for the next container of that name" {
	need_command strace
	need_controller pids
	make_bundle "$T/b" sleep 1000
	"$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" </dev/null >"$T/log.run" 2>&1 3>&- &
	local maker=$! updater
	wait_for 20 is_recorded "$(new_id)"
	slowly renameat:when=1+ update --pids-limit 20 "$(new_id)" 3>&- &
	updater=$!
	wait_for 20 compgen -G "$BRIG_ROOT/.files/$(new_id)/state.json.*"
	run_brig kill "$(new_id)" KILL
	wait "$updater"
	status=0
	wait "$maker" || status=$?
	assert_equal "$status" 137
	assert_equal "$(<"$T/log.run")" ""
	[ ! -e "$BRIG_ROOT/$(new_id)" ]
	[ ! -e "$BRIG_ROOT/.files/$(new_id)" ]
}

@test "attack: the files of a container whose record was removed by hand are not the next one's" {
	make_bundle "$T/b" sleep 1000
	create
	run_brig update --pids-limit 20 "$(new_id)" # without the controller it says so
	run_brig start "$(new_id)"
	assert_status 0
	kill -KILL "$("$BRIG" --root "$BRIG_ROOT" state "$(new_id)" | jq .pid)"
	wait_for 5 ended "$(new_id)"
	mkfifo -m 600 "$BRIG_ROOT/.files/$(new_id)/start"
	: >"$BRIG_ROOT/.files/$(new_id)/state.json.1.tmp"
	cp -a "$BRIG_ROOT/.files/$(new_id)" "$T/files"
	run_brig delete "$(new_id)"
	assert_status 0
	cp -a "$T/files" "$BRIG_ROOT/.files/$(new_id)"
	create
	run_brig state "$(new_id)"
	assert_json .status created
	run_brig start "$(new_id)"
	assert_status 0
	run_brig state "$(new_id)"
	assert_json .status running
	run_brig delete --force "$(new_id)"
	assert_status 0
}

@test "attack: a maker that is done in the moment in which one looks is not taken for a dead one" {
	need_command strace
	make_bundle "$T/b" sleep 1000
	printf '#!/bin/sh\nwhile ! [ -e "%s" ]; do sleep 0.05; done\n' "$T/go" >"$T/hook"
	chmod 755 "$T/hook"
	edit_config "$T/b" ".hooks = {createRuntime: [{path: \"$T/hook\"}]}"
	"$BRIG" --root "$BRIG_ROOT" run -d -b "$T/b" "$(new_id)" </dev/null >"$T/log" 2>&1 3>&- &
	local maker=$! deleter
	wait_for 20 grep -qs creating "$BRIG_ROOT/$(new_id)"
	slowly flock:when=1+ delete "$(new_id)" 2>"$T/log.delete" 3>&- &
	deleter=$!
	wait_for 20 turn_is_taken "$(new_id)"
	touch "$T/go"
	wait "$maker"
	status=0
	wait "$deleter" || status=$?
	assert_equal "$status" 1
	assert_contains "$(<"$T/log.delete")" "not stopped: running"
	run_brig delete --force "$(new_id)"
	assert_status 0
}

@test "attack: a record that was only begun is no container, and is swept" {
	local text
	mkdir -m 700 "$BRIG_ROOT"
	for text in "" '{"ver' '{"version":1,"id":"half","phase":"crea'; do
		printf %s "$text" >"$BRIG_ROOT/half"
		chmod 1600 "$BRIG_ROOT/half"
		run_brig state half
		assert_status 1
		assert_contains "$stderr" "container does not exist: half"
		run_brig delete --force half
		assert_status 0
		sandbox -- true
		assert_status 0
		[ ! -e "$BRIG_ROOT/half" ]
	done
	printf mine >"$BRIG_ROOT/half"
	sandbox -- true
	assert_equal "$(<"$BRIG_ROOT/half")" mine
	rm "$BRIG_ROOT/half"
}

@test "attack: nobody's fifo in the state root is opened" {
	mkdir -m 700 "$BRIG_ROOT"
	mkfifo "$BRIG_ROOT/fifo"
	chmod 1600 "$BRIG_ROOT/fifo"
	cat "$BRIG_ROOT/fifo" 3>&- &
	local reader=$!
	sleep 0.3
	run_brig list
	assert_status 0
	sandbox -- true
	run_brig delete --force fifo
	assert_status 1
	kill -0 $reader || fail "its reader saw an end"
	echo >"$BRIG_ROOT/fifo"
	wait $reader
	rm "$BRIG_ROOT/fifo"
}

@test "attack: a link that somebody makes to a record does not keep its name alive" {
	need_command strace
	make_bundle "$T/b" sleep 1000
	create
	slowly unlinkat:when=1 delete "$(new_id)" 3>&- &
	local deleter=$!
	wait_for 20 turn_is_taken "$(new_id)"
	ln "$BRIG_ROOT/$(new_id)" "$BRIG_ROOT/link"
	run_brig delete "$(new_id)"
	assert_status 1
	assert_contains "$stderr" "container does not exist"
	run_brig delete link
	assert_status 1
	assert_contains "$stderr" "it is the one of $(new_id)"
	wait "$deleter"
	rm "$BRIG_ROOT/link"
}

# begun_without_cgroup: $maker, which is stopped when its program runs and its last record is not written.
begun_without_cgroup() {
	make_bundle "$T/b" sh -c 'echo $$ >/pid; exec sleep 1000'
	edit_config "$T/b" '.root.readonly = false'
	strace -D -q -o "$T/trace" -e trace=write -e inject=write:delay_enter=800000 \
		"$BRIG" --cgroup-manager disabled --root "$BRIG_ROOT" run -d -b "$T/b" "$(new_id)" </dev/null >"$T/log" 2>&1 3>&- &
	maker=$!
	wait_for 20 [ -s "$T/b/rootfs/pid" ]
	init=$(sed -n 's/.*"initPid":\([1-9][0-9]*\).*/\1/p' "$BRIG_ROOT/$(new_id)")
	has_only_begun
}

has_only_begun() { ! grep -q '"phase":"running"' "$BRIG_ROOT/$(new_id)" && kill -0 "$init"; }

@test "attack: without a cgroup, a program whose maker is killed before its last record is swept" {
	need_command strace
	begun_without_cgroup
	kill -KILL "$maker"
	wait "$maker" || true
	has_only_begun
	sandbox -- true
	assert_status 0
	wait_for 5 gone "$init"
	[ ! -e "$BRIG_ROOT/$(new_id)" ]
}

@test "attack: without a cgroup, nor does delete --force leave such a program" {
	need_command strace
	begun_without_cgroup
	run_brig delete --force "$(new_id)"
	assert_status 0
	wait_for 5 gone "$init"
	wait "$maker" || true
	[ ! -e "$BRIG_ROOT/$(new_id)" ]
}
