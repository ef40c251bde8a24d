# diff_runtimes BUNDLE: the same bundle under Debian's runc and crun and under brig; what the payload
# sees must be the same but for what is listed here.

# Differences that are meant: "PEER PATTERN", of lines of tests/lib/probe.sh on either side. What is
# not brig's doing but an older kernel interface or version of the peer is here too.
DELIBERATE=(
	# Masked directories are one read-only tmpfs, masked files the host's /dev/null, not that of
	# the container.
	'runc ^mount /(proc/(acpi|keys|timer_list)|sys/firmware) '
	'crun ^mount /(proc/(acpi|keys|timer_list)|sys/firmware) '
	'runc ^masked /(proc/acpi|sys/firmware) 0 entries, (1777|755) 0:0$'
	'crun ^masked /(proc/acpi|sys/firmware) 0 entries, (1777|755) 0:0$'
	# A read-only mount is one of the mount alone, never of the superblock.
	'runc ^mount /sys root=/ ro,nosuid,nodev,noexec,relatime propagation=\[\] sysfs r[ow]$'
	# crun drops the options of the mount when it makes a part of it read-only.
	'crun ^mount /proc/(bus|fs|irq|sys) root=/[a-z]+ ro,(nosuid,nodev,noexec,)?relatime propagation=\[\] proc rw$'
	# crun's default is not that of the spec.
	'crun ^dev /dev/core '
	# crun sets no HOME for a uid that is not in /etc/passwd.
	'crun ^env HOME=/$'
	# crun 1.8 now and then leaves one open.
	'crun ^fd 4$'
	# crun gives standard input to the user, which is the container's own /dev/null then.
	'crun ^dev /dev/null character special file 666 [0-9]+:[0-9]+ 1:3 $'
	# Devices bound in a user namespace are read-only mounts, for the host's nodes are behind them;
	# crun adds options.
	'runc ^mount /dev/[a-z]+ root=/[a-z]+ r[ow],relatime propagation=\[\] devtmpfs '
	'crun ^mount /dev/[a-z]+ root=/[a-z]+ r[ow],(nosuid,noexec,)?relatime propagation=\[\] devtmpfs '
	# Made before the ids are mapped.
	'runc ^dev /dev/mqueue directory 1777 [0-9]+:65534 '
	'crun ^dev /dev/mqueue directory 1777 [0-9]+:[0-9]+ '
	# crun 1.8 forgets it.
	'crun ^mount /shared .* propagation=\[( shared)?\] '
)

# with_probe BUNDLE: tests/lib/probe.sh as its program.
with_probe() {
	cp "$TESTS_LIB/probe.sh" "$1/rootfs/probe.sh"
	# Debian's crun knows no later version.
	edit_config "$1" '.process.args = ["sh", "/probe.sh"] | .ociVersion = "1.0.2"'
}

# The inodes of namespaces as "ours" or "new".
name_namespaces() {
	local line kind name inode
	while IFS= read -r line; do
		if [[ $line == "namespace "* ]]; then
			read -r kind name inode <<<"$line"
			if [ "$(readlink "/proc/self/ns/$name")" = "${name%_for_children}:[$inode]" ]; then
				line="$kind $name ours"
			else
				line="$kind $name new"
			fi
		fi
		printf '%s\n' "$line"
	done
}

# seen_under NAME PROGRAM BUNDLE
seen_under() {
	local id
	id=$(new_id "$1")
	# Not the machine's /dev/null as standard input: crun gives its streams to the container's user.
	"$2" --root "$T/state-$1" run -b "$3" "$id" < <(:) >"$T/seen.raw" 2>&1 ||
		fail "$1 does not run the bundle:" "$(cat "$T/seen.raw")"
	# The ID is in the path of the cgroup and of the mount of it.
	sed "s/$id/ID/g; s/brig-ID/ID/g" "$T/seen.raw" | name_namespaces >"$T/seen.$1"
	rm -rf "$T/state-$1"
}

without_deliberate() {
	local entry patterns=(-e '^$')
	for entry in "${DELIBERATE[@]}"; do
		[[ $entry != "$1 "* ]] || patterns+=(-e "${entry#* }")
	done
	grep -vE "${patterns[@]}" "$2" || true
}

diff_runtimes() {
	local bundle=$1 peer bad=0
	seen_under brig "$BRIG" "$bundle"
	for peer in runc crun; do
		command -v $peer >/dev/null || continue
		seen_under $peer $peer "$bundle"
		diff -U0 --label "$peer" --label brig <(without_deliberate $peer "$T/seen.$peer") \
			<(without_deliberate $peer "$T/seen.brig") | grep -v '^@@' >&2 && bad=1
	done
	[ $bad = 0 ]
}
