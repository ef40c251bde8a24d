#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel tests of cgroups/ in every place that a cgroup v2 host can put us in:
#
#   tests/vm/run -- tests/unit/cgroups/vm.sh DIR
#
# as root in the virtual machine; DIR holds the built test programs. Prints TAP. Changes cgroups,
# so it refuses to run elsewhere.
set -u

dir=${1:?usage: vm.sh DIR}
cg=/sys/fs/cgroup
me=0::/
n=0
failed=0

[ "$(cat /proc/self/cgroup)" = "$me" ] && [ -w "$cg/cgroup.subtree_control" ] || {
	echo "1..0 # SKIP not at the root of a cgroup v2 host"
	exit 0
}

# check NAME STATUS: one TAP line.
check() {
	n=$((n + 1))
	[ "$2" -eq 0 ] && echo "ok $n - $1" && return
	failed=1
	echo "not ok $n - $1"
}

# in_cgroup PATH UID COMMAND...: runs the command there; its output as comments.
in_cgroup() {
	where=$1 uid=$2
	shift 2
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cg/$where" \
		setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@" >/tmp/out 2>&1
	status=$?
	sed 's/^/# /' /tmp/out
	return $status
}

both() {
	in_cgroup "$1" "$2" sh -c '"$0/kernel" && "$0/limits"' "$dir"
}

# delegate PATH: a cgroup that systemd would have made for uid 1000.
delegate() {
	mkdir -p "$cg/$1"
	chown -R 1000:1000 "$cg/$1"
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.delegate", b"1")' "$cg/$1"
}

all="+cpu +memory +pids"
mkdir -p "$cg/user"
"$dir/kernel" >/tmp/out && "$dir/limits" >>/tmp/out
check "root in the root cgroup" $?

echo "$all" >"$cg/cgroup.subtree_control"
echo "$all" >"$cg/user/cgroup.subtree_control"
mkdir -p "$cg/user/tree/shell"
delegate user/tree
both user/tree/shell 1000
check "rootless below a delegated cgroup" $?

delegate user/own
both user/own 1000
check "rootless in the delegated cgroup itself: its processes move to a leaf" $?
[ -d "$cg/user/own/brig-init" ] && [ "$(find "$cg/user/own" -type d | wc -l)" -eq 2 ]
check "nothing but the leaf stays" $?

mkdir -p "$cg/user/none"
both user/none 1000
grep -q "1..0 # SKIP our cgroup $cg/user/none is not delegated" /tmp/out
check "rootless without delegation says so" $?

mkdir -p "$cg/user/poor"
echo "+pids" >"$cg/user/poor/cgroup.subtree_control"
mkdir -p "$cg/user/poor/tree/shell"
delegate user/poor/tree
in_cgroup user/poor/tree/shell 1000 "$dir/limits" >/dev/null
grep -q "the cgroup controllers cpu memory are not delegated" /tmp/out
check "missing controllers are named" $?

mkdir -p "$cg/box"
in_cgroup box 0 unshare -C -m sh -c "umount -R $cg; mount -t cgroup2 none $cg; \"\$0/kernel\" &&
	\"\$0/limits\"" "$dir"
check "root in a container with a cgroup namespace" $?

mkdir -p "$cg/bind"
in_cgroup bind 0 unshare -m sh -c "mount --bind $cg/bind $cg; \"\$0/kernel\" && \"\$0/limits\"" "$dir"
check "root in a container that sees only its own cgroup" $?

in_cgroup . 0 unshare -m sh -c "mount -o remount,bind,ro $cg; \"\$0/kernel\"" "$dir"
grep -q "mounted read-only" /tmp/out
check "a read-only cgroup mount is told" $?

mkdir -p /run/systemd/system
in_cgroup . 0 sh -c '"$0/kernel" && "$0/limits"' "$dir" && grep -q "base /brig," /tmp/out
check "root on a host with systemd" $?

# A service manager of our own, in a delegated cgroup.
if [ -x /lib/systemd/systemd ]; then
	delegate user/manager
	mkdir -p /run/user/1000
	chown 1000:1000 /run/user/1000
	chmod 700 /run/user/1000
	in_cgroup user/manager 1000 env HOME=/tmp XDG_RUNTIME_DIR=/run/user/1000 sh -c '
		cd /
		/lib/systemd/systemd --user --unit=basic.target >/tmp/manager.log 2>&1 &
		i=0
		while ! systemctl --user is-system-running 2>/dev/null && [ $((i += 1)) -lt 100 ]; do
			sleep 0.1
		done
		"$0/scope"' "$dir"
	check "a scope of the user's service manager" $?
	find "$cg/user/manager" -name '*brig*' | grep -q . && failed=1
else
	check "a scope of the user's service manager # SKIP systemd is not installed" 0
fi
left=$(find "$cg" -name '*brig*' ! -name brig-init)
[ -z "$left" ]
check "no cgroup is left behind" $?
[ -z "$left" ] || echo "# $left"
echo "1..$n"
exit $failed
