#!/usr/bin/env bats
# places: root rootless
# Containers while they live: logs, attach, events, health, statistics, pause, update, prune.

load ../lib/common
load ../lib/docker

health() { dk inspect -f '{{.State.Health.Status}}' "$1"; }
has_health() { [ "$(health "$1")" = "$2" ]; }
# What --format {{.Action}} shows of the events of a container since $SINCE.
actions() { dk events --since "$SINCE" --until "$(date +%s.%N)" --filter "container=$1" --format '{{.Action}}'; }

setup() {
	docker_setup
	SINCE=$(date +%s.%N)
}

@test "logs: streams apart, tail, times, details, what is no text, and a follower that ends" {
	local before
	run_dk run --name lg host sh -c 'echo o; echo e >&2; printf "a\0\\\"\tb"'
	before=$output
	run_dk logs lg
	assert_equal "$stderr" e
	assert_equal "$(dk logs lg 2>/dev/null | od -c)" "$(printf 'o\na\0\\"\tb' | od -c)"
	assert_equal "$output" "$before"
	assert_equal "$(dk logs --details -n 2 lg 2>&1 | tr -d '\0')" $' e\n a\\"\tb'
	run_dk logs -t --until 2099-01-01T00:00:00Z lg
	[[ $output =~ ^[0-9-]{10}T[0-9:.]{18}Z\ o ]] || fail "$output"
	assert_equal "$(dk logs -n 0 lg 2>&1)$(dk logs --since 2099-01-01T00:00:00Z lg 2>&1)$(dk logs --until 1h lg 2>&1)" ""
	run_dk logs --since xyz lg
	assert_status 1
	assert_equal "$stderr" 'invalid value for "since": failed to parse value as time or duration: "xyz"'
	mkfifo "$T/go"
	dk run -d --name lf --log-opt max-size=2k --log-opt max-file=3 -v "$T:/t" host \
		sh -c 'read x </t/go; seq -f line-%g 500; printf end' >/dev/null
	"$BRIG_DOCKER" logs -f lf >"$T/log" &
	echo >"$T/go"
	dk wait lf >/dev/null
	wait $!
	assert_equal "$(tail -n 2 "$T/log")" $'line-500\nend'
	assert_equal "$(dk logs -n 2 lf)" $'line-500\nend'
	assert_equal "$(find "$BRIG_DOCKER_DATA" -name '*-json.log*' -size -3k | wc -l)" 4
	run_dk run --name none --log-driver none host echo x
	assert_equal "$(dk logs none 2>&1)" 'Error response from daemon: configured logging driver does not support reading'
	dk rm lg lf none
}

@test "a follower of the log and an attached client end with the monitor, however that ends" {
	local id
	id=$(dk run -d --name k9 host sh -c 'echo hi; sleep 1000')
	"$BRIG_DOCKER" logs -f k9 >"$T/log" &
	wait_for 5 grep -q hi "$T/log"
	kill -KILL "$(monitor_of "$id")"
	wait $!
	dk start k9
	"$BRIG_DOCKER" attach k9 &
	wait_for 5 eval 'actions k9 | grep -q attach'
	dk kill k9
	wait $! && fail "attach ended with 0"
	assert_equal "$?" 137
	run_dk attach k9
	assert_status 1
	assert_equal "$stderr" 'You cannot attach to a stopped container, start it first'
	dk rm k9
}

@test "events: in order, filtered, in all formats, and as they come" {
	dk run --rm --name ev --label l=1 host sh -c 'exit 2' || true
	assert_equal "$(actions ev | tr '\n' ' ')" "create attach start die destroy "
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --filter event=die --filter label=l=1
	[[ $output =~ ^[0-9-]{10}T[0-9:.]{18}[Z+-][0-9:]*\ container\ die\ [0-9a-f]{64}\ \(exitCode=2,\ image=host,\ l=1,\ name=ev\)$ ]] ||
		fail "$output"
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --filter event=start --filter type=container --format json
	assert_equal "$(jq -c '[.status, .from, .Type, .Action, .Actor.Attributes, .scope]' <<<"$output")" \
		'["start","host","container","start",{"image":"host","l":"1","name":"ev"},"local"]'
	"$BRIG_DOCKER" events --filter event=start --format '{{.Actor.Attributes.name}} {{.Status}}' >"$T/events" &
	wait_for 5 eval 'grep -qs inotify /proc/'$!'/fdinfo/*'
	dk run -d --name zz1 host sleep 1000 >/dev/null
	wait_for 5 grep -qx 'zz1 start' "$T/events"
	kill $!
	dk exec zz1 true
	dk rename zz1 zz2
	dk restart -t 0 zz2
	dk rm -f zz2
	assert_equal "$(actions zz | tr '\n' ',')" "create,start,exec_create: true ,exec_start: true ,exec_die,rename,\
kill,kill,die,stop,start,restart,kill,die,destroy,"
	# What others have chosen neither drives the terminal nor makes lines.
	local dirty=$'l\e]0;x\a\xc2\x9bm\x7f\n\u00e9'
	dk run -d --name dirty --label "$dirty=$dirty" host sleep 1000 >/dev/null
	dk exec dirty echo "$dirty" >/dev/null
	dk rm -f dirty >/dev/null
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --filter container=dirty
	local clean='l\x1b]0;x\x07\x9bm\x7f\x0aé'
	[ "$(grep -cF "$clean=$clean" <<<"$output")" = "$(wc -l <<<"$output")" ] || fail "$output"
	assert_contains "$output" " container exec_create: echo $clean "
	! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]\|\xc2\x9b' <<<"$output" || fail "$output"
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --filter container=dirty --filter event=start --format json
	assert_equal "$(jq -r --arg l "$dirty" '.Actor.Attributes[$l]' <<<"$output")" "$dirty"
	run_dk events --filter x=y
	assert_equal "$stderr" "Error response from daemon: invalid filter 'x'"
}

@test "events of networks, volumes, images and exec -d; a renamed container has its new name to the end" {
	local net=none
	[ "$EUID" != 0 ] || { net=mine && dk network create mine >/dev/null; }
	"$TESTS_LIB/layered-image" "$T/i.tar" layered:1 "$(command -v busybox)"
	dk load -qi "$T/i.tar" >/dev/null
	dk tag layered:1 other:2 && dk save other:2 >"$T/o.tar" && dk rmi other:2 >/dev/null
	dk run -d --name old --network $net -v vol:/v layered:1 sleep 60 >/dev/null
	dk exec -d old sh -c 'exit 3'
	wait_for 5 has_event exec_die
	dk rename old new
	tar c -C "$T" i.tar | dk import - made:1 >/dev/null
	dk rm -f new >/dev/null && dk volume rm vol >/dev/null && dk rmi layered:1 made:1 >/dev/null
	[ $net = none ] || dk network rm mine >/dev/null
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --format '{{.Type}} {{.Action}} {{.Actor.Attributes.name}}{{.Actor.Attributes.exitCode}}'
	assert_equal "$(sed 's/<no value>//g; s/ $//; s/sha256:[0-9a-f]*/ID/; s/exec_\([a-z]*\):.* /exec_\1 /; /network \(create\|destroy\)/d' <<<"$output")" "image load ID
image tag other:2
image save ID
image untag ID
volume create
container create old
network connect $net
volume mount
container start old
container exec_create old
container exec_start old
container exec_die old3
container rename new
image import ID
image tag made:1
container kill new
container die new137
network disconnect $net
volume unmount
container destroy new
volume destroy
image untag ID
image delete ID
image untag ID
image delete ID"
	run_dk events --since "$SINCE" --until "$(date +%s.%N)" --filter type=network --filter event=connect --format '{{.Actor.Attributes.type}}'
	assert_equal "$output" "$([ $net = none ] && echo null || echo bridge)"
}

has_event() { dk events --since "$SINCE" --until "$(date +%s.%N)" --filter "event=$1" | grep -q .; }

@test "events: the log is turned over, and who follows it misses nothing" {
	dk run --rm host true # makes it
	"$BRIG_DOCKER" events --since "$SINCE" --filter event=more --format '{{.ID}}' >"$T/events" &
	python3 - "$BRIG_DOCKER_RUN/docker-events/log" <<-'PY'
		import sys
		line = '{"time":1,"type":"volume","action":"less","id":"%s"}\n' % ('x' * 200)
		open(sys.argv[1], 'a').write(line * 5000 + line[:40] + '\n')
	PY
	dk run --rm host true
	[ -e "$BRIG_DOCKER_RUN/docker-events/log.1" ] || fail "the log was not turned over"
	assert_equal "$(actions '' | sort | uniq -c | awk '{print $1 $2}' | tr '\n' ' ')" \
		"2attach 2create 2destroy 2die 2start "
	dk events --since "$SINCE" --until "$(date +%s.%N)" --filter type=container --format '{{.ID}}' | sort -u >"$T/ids"
	assert_equal "$(wc -l <"$T/ids")" 2
	kill $!
}

@test "healthchecks: starting, healthy, unhealthy, too slow, and none" {
	mkdir "$T/t"
	dk run -d --name hc -v "$T/t:/t" --health-cmd 'echo out; test -e /t/ok' --health-interval 100ms --health-retries 2 \
		--health-start-period 1h --health-start-interval 100ms host sleep 1000 >/dev/null
	wait_for 5 eval '[ "$(dk inspect -f "{{len .State.Health.Log}}" hc)" -gt 2 ]'
	assert_equal "$(dk inspect -f '{{.State.Health.Status}} {{.State.Health.FailingStreak}}' hc)" "starting 0"
	touch "$T/t/ok"
	wait_for 5 has_health hc healthy
	assert_contains "$(dk ps --format '{{.Status}}')" "(healthy)"
	rm "$T/t/ok"
	wait_for 5 has_health hc unhealthy
	assert_equal "$(dk inspect -f '{{json .State.Health}}' hc | jq -c '.Log[-1] | [.ExitCode, .Output]')" '[1,"out\n"]'
	assert_equal "$(dk ps -q --filter health=unhealthy | wc -l)" 1
	assert_equal "$(actions hc | grep health)" $'health_status: healthy\nhealth_status: unhealthy'
	dk rm -f hc
	dk run -d --name slow --health-cmd 'echo begun; sleep 1000' --health-timeout 100ms --health-interval 100ms \
		--health-retries 1 host sleep 1000 >/dev/null
	wait_for 5 has_health slow unhealthy
	assert_equal "$(dk inspect -f '{{(index .State.Health.Log 0).ExitCode}} {{(index .State.Health.Log 0).Output}}' slow)" \
		"-1 Health check exceeded timeout (100ms): begun"
	dk rm -f slow
	dk run -d --name off --no-healthcheck host sleep 1000 >/dev/null
	assert_equal "$(dk inspect -f '{{.State.Health}}' off)" "<nil>"
	dk rm -f off
	# With a client, too. The probe is writing while the container is removed.
	for _ in 1 2 3 4 5; do
		rm -f "$T/t/probed"
		dk run --rm --name fg -v "$T/t:/t" --health-cmd 'touch /t/probed' --health-interval 10ms host \
			sh -c 'while [ ! -e /t/probed ]; do :; done; exit 4' || assert_equal "$?" 4
		[ -e "$T/t/probed" ]
		assert_equal "$(ls "$BRIG_DOCKER_DATA/containers")" ""
	done
}

@test "a monitor stays below 1 MiB" {
	local id rss
	id=$(dk run -d --name small --health-cmd true --health-interval 50ms host sleep 1000)
	wait_for 5 has_health small healthy
	in_bounds() { rss=$(awk '/^VmRSS/ {print $2}' "/proc/$(monitor_of "$id")/status") && [ "$rss" -lt 1024 ]; }
	wait_for 5 in_bounds || fail "$rss kB"
	dk rm -f small
}

@test "top: the host's ps, of the container's processes" {
	local id
	id=$(dk run -d --name tt host sh -c 'sleep 1001; true')
	wait_for 5 eval 'dk top tt | grep -q 1001'
	run_dk top tt
	assert_equal "${lines[0]}" "UID                 PID                 PPID                C                   \
STIME               TTY                 TIME                CMD"
	assert_equal "${#lines[@]}" 3
	run_dk top tt -eo pid,comm
	assert_equal "$(awk '{print $2}' <<<"$output" | tr '\n' ' ')" "COMMAND sh sleep "
	assert_equal "$(dk top tt -o nosuch 2>&1)" \
		'Error response from daemon: ps: error: unknown user-defined format specifier "nosuch"'
	assert_equal "$(dk top tt -o comm 2>&1)" "Error response from daemon: Couldn't find PID field in ps output"
	assert_equal "$(dk top tt -o x=PID 2>&1)" 'Error response from daemon: specifying "x=PID" is not allowed'
	dk rm -f tt
	assert_equal "$(dk top tt 2>&1)" "Error response from daemon: No such container: tt"
}

@test "pause, unpause, stats, update: by the cgroups; without them an error that says so" {
	local id
	if ! has_controller memory || [ "$EUID" != 0 ]; then
		id=$(dk run -d --name pp host sleep 1000)
		run_dk update --memory 64m pp
		assert_status 1
		assert_contains "$stderr" "Error response from daemon: Cannot update container $id: linux.resources.memory.limit"
		run_dk stats --no-stream --format '{{.Name}} {{.MemUsage}}' pp
		assert_equal "$output" "pp 0B / 0B"
		dk rm -f pp
		return 0
	fi
	id=$(dk run -d --name pp --memory 128m --memory-swap 128m host \
		python3 -c 'import time; x = bytearray(20 << 20); time.sleep(1000)')
	wait_for 5 eval 'dk stats --no-stream --format "{{.MemUsage}} {{.PIDs}}" pp | grep -qE "^2[0-9.]+MiB / 128MiB 1$"'
	run_dk stats --no-stream pp
	assert_equal "${lines[0]}" \
		"CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT   MEM %     NET I/O   BLOCK I/O   PIDS"
	dk pause pp
	assert_equal "$(dk inspect -f '{{.State.Status}} {{.State.Running}} {{.State.Paused}}' pp)" "paused true true"
	assert_equal "$(dk pause pp 2>&1)" "Error response from daemon: Container $id is already paused"
	dk unpause pp
	assert_equal "$(dk unpause pp 2>&1)" "Error response from daemon: Container $id is not paused"
	dk update --memory 64m --memory-swap 64m --cpus 0.5 --pids-limit 50 pp
	assert_equal "$(dk exec pp sh -c 'cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us pids/pids.max
		cut -d" " -f1 cpu.max memory.max pids.max' 2>/dev/null | sort -n | tr '\n' ' ')" "50 50000 67108864 "
	assert_equal "$(dk inspect -f '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.PidsLimit}}' pp)" \
		"67108864 500000000 50"
	assert_equal "$(dk update --memory 1k pp 2>&1)" "Error response from daemon: Minimum memory limit allowed is 6MB"
	assert_equal "$(dk inspect -f '{{.HostConfig.Memory}}' pp)" 67108864
	dk rm -f pp
	assert_equal "$(dk pause pp 2>&1)" "Error response from daemon: No such container: pp"
}

@test "update of the restart policy reaches a monitor that waits; prune takes what has ended" {
	dk run -d --name uu --restart always host true >/dev/null
	wait_for 20 eval '[ "$(dk inspect -f "{{.State.Status}}" uu)" = restarting ]'
	dk update --restart no uu
	wait_for 5 eval '[ "$(dk inspect -f "{{.State.Status}}" uu)" = exited ]'
	dk create --name keep --label keep host true >/dev/null
	dk run -d --name up host sleep 1000 >/dev/null
	run_dk container prune -f --filter label!=keep
	assert_equal "${lines[0]},${#lines[@]},${lines[-1]}" "Deleted Containers:,3,Total reclaimed space: 0B"
	run_dk container prune <<<n
	assert_contains "$output" "WARNING! This will remove all stopped containers."
	assert_equal "$(dk ps -a --format '{{.Names}}' | sort | tr '\n' ' ')" "keep up "
	dk rm -f keep up
}
