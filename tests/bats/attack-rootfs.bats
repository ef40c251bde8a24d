# places: root
# Root file systems whose links lead to the host: whatever a start does, nothing out there changes,
# and what is mounted is mounted inside.
load ../lib/common

# A directory that stands for the host; $HOST_BEFORE is what it looks like.
setup() {
	brig_setup
	mkdir -p "$T/host/dir/pts" "$T/host/empty"
	echo host >"$T/host/file"
	echo root:x:0:0:root:/from-the-host:/bin/sh >"$T/host/passwd"
	make_bundle "$T/b" sh -c 'echo started; echo $HOME; cat /proc/sys/kernel/ostype 2>/dev/null'
	HOST_BEFORE=$(look_at_host)
}

look_at_host() { find "$T/host" -printf '%p %y %m %u %s %T@ %D %i\n' | sort; }

# run_link NAME TARGET: a run with rootfs/NAME as a link to TARGET.
run_link() {
	local path=$T/b/rootfs/$1
	rm -rf "$path"
	mkdir -p "${path%/*}"
	ln -s "$2" "$path"
	output=$(timeout -s KILL 20 "$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" 2>&1 </dev/null) && status=0 || status=$?
	[ $status != 137 ] || fail "$1 -> $2: hangs"
	assert_equal "$(look_at_host)" "$HOST_BEFORE"
	[[ $output != *from-the-host* ]] || fail "$1 -> $2: $output"
	rm "$path"
	mkdir -p "$T/b/rootfs/"{proc,sys,dev,etc}
}

@test "attack: links for /proc, /sys, /dev and below" {
	local name to
	for to in "$T/host/dir" "../../../../../../../../../..$T/host/dir" /proc/1/root"$T/host/dir" /proc/self/cwd; do
		for name in proc sys dev; do
			run_link $name "$to"
		done
	done
	# With no tmpfs on /dev the names in it are the image's own.
	edit_config "$T/b" '.mounts |= map(select(.destination | startswith("/dev") | not))'
	for to in "$T/host/dir" "$T/host/file" "$T/host/new" /proc/self/fd/3; do
		for name in dev dev/null dev/console dev/ptmx dev/zero dev/fd dev/stdin dev/pts dev/shm; do
			run_link $name "$to"
		done
	done
}

@test "attack: links for the mounts' targets, the working directory and the user data base" {
	local name to
	edit_config "$T/b" '.process.cwd = "/work/dir" | .mounts += [
		{destination: "/target/dir", type: "tmpfs", source: "tmpfs"},
		{destination: "/target/file", type: "bind", source: "/etc/hostname", options: ["bind", "ro"]}]'
	for to in "$T/host" "$T/host/dir" "$T/host/file" "$T/host/new" "../../../../../../../../..$T/host/dir"; do
		for name in target target/dir target/file work work/dir etc etc/passwd; do
			run_link $name "$to"
		done
	done
}

@test "attack: an /etc/passwd that is a fifo, a device, huge, endless or damaged" {
	local kind
	for kind in 'mkfifo P' 'mknod P c 1 5' 'mkdir P' 'truncate -s 4G P' 'head -c 900000 /dev/zero >P' \
		'yes root:x:0:0 | head -c 500000 >P' 'printf "root:x:0:0:x:/%0300d:/bin/sh\n" 1 >P' \
		'printf "root:x:-0:0:x:/bad:/\nroot:x:4294967296:0:x:/bad:/\nroot:x: 0:0:x:/bad:/\n" >P'; do
		rm -rf "$T/b/rootfs/etc/passwd"
		(cd "$T/b/rootfs/etc" && eval "${kind//P/passwd}")
		output=$(timeout -s KILL 20 "$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" 2>&1 </dev/null) ||
			fail "$kind: $output"
		assert_equal "$(sed -n 2p <<<"$output")" /
	done
}

@test "attack: links that are exchanged while the mounts are made" {
	edit_config "$T/b" '.mounts += [{destination: "/race/a/b", type: "tmpfs", source: "tmpfs"},
		{destination: "/race/a/file", type: "bind", source: "/etc/hostname", options: ["bind"]}]'
	mkdir -p "$T/b/rootfs/race/a" "$T/b/rootfs/race/x"
	(
		cd "$T/b/rootfs/race"
		ln -s "$T/host/dir" link
		while [ ! -e "$T/stop" ]; do
			mv -T a x/a && mv -T link a && mv -T a link && mv -T x/a a
		done
	) 2>/dev/null &
	for _ in {1..60}; do
		timeout -s KILL 20 "$BRIG" --root "$BRIG_ROOT" run -b "$T/b" "$(new_id)" >/dev/null 2>&1 </dev/null || true
	done
	touch "$T/stop"
	wait
	assert_equal "$(look_at_host)" "$HOST_BEFORE"
}
