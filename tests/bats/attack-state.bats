# places: root
# The state directory when it is not what it should be: other people's, damaged, or in the way.
load ../lib/common
load ../lib/sandbox

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

# forge DIR: a record as a killed sandbox leaves it, with the victim's cgroup.
forge() {
	mkdir -m 700 "$1"
	jq -n --arg id "${1##*/}" --arg path "$VICTIM_CGROUP" '{version: 1, id: $id, phase: "running",
		ephemeral: true, cgroup: {manager: "fs", paths: [$path]}}' >"$1/owner"
}

@test "attack: a directory that is no record of ours is left alone" {
	mkdir -p "$BRIG_ROOT"/{mine,empty-owner,sub}
	chmod 700 "$BRIG_ROOT"
	echo mine >"$BRIG_ROOT/mine/owner"
	echo data >"$BRIG_ROOT/mine/data"
	: >"$BRIG_ROOT/empty-owner/owner"
	echo data >"$BRIG_ROOT/empty-owner/data"
	echo data >"$BRIG_ROOT/sub/data"
	sandbox -- true
	assert_status 0
	assert_equal "$(cat "$BRIG_ROOT"/*/data | tr '\n' ' ')" "data data data "
	assert_equal "$(<"$BRIG_ROOT/mine/owner")" mine
	rm -r "$BRIG_ROOT"
}

@test "attack: a record that was forged by another user is not believed" {
	make_victim
	mkdir -m 1777 "$BRIG_ROOT"
	forge "$BRIG_ROOT/forged"
	chown -R brigtest1 "$BRIG_ROOT/forged"
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

@test "attack: half a state.json is not the end of the container" {
	make_bundle "$T/b"
	create
	truncate -s 700 "$BRIG_ROOT/$(new_id)/state.json"
	run_brig state "$(new_id)"
	assert_json .status creating
	run_brig delete --force "$(new_id)"
	assert_status 0
}
