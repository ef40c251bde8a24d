#!/bin/sh
# Runs as the payload of a container, with nothing but busybox: prints what it sees, one fact a
# line, each with its subject in front, without numbers that differ from run to run.

# root, target, options, propagation, type, options of the superblock
awk '{
	for (i = 7; $i != "-"; i++) { sub(/:.*/, "", $i); shared = shared " " $i }
	print "mount", $5, "root=" $4, $6, "propagation=[" shared "]", $(i + 1), $(i + 3); shared = ""
}' /proc/self/mountinfo | sort

grep -E '^(Umask|Uid|Gid|Groups|NS[a-z]*|Threads|Sig[BI].*|Cap.*|NoNewPrivs|Seccomp.*|[A-Z][a-z]*_allowed_list|PPid|CoreDumping):' \
	/proc/1/status | sed 's/^/status /; s/[ \t]*$//'
tr '\0' '\n' </proc/1/environ | sort | sed 's/^/env /'
tr '\0' ' ' </proc/1/cmdline | sed 's/^/cmdline /; s/ *$/\n/'
echo "cwd $(readlink /proc/1/cwd)"
echo "root $(stat -c '%a %u:%g' /)"
sed '1d; s/  */ /g; s/^/limit /; s/ *$//' /proc/1/limits
for fd in /proc/1/fd/*; do echo "fd ${fd##*/}"; done
for ns in /proc/1/ns/*; do echo "namespace ${ns##*/} $(readlink "$ns" | tr -dc 0-9)"; done
for file in oom_score_adj personality cgroup setgroups uid_map gid_map timerslack_ns; do
	sed "s/^/$file /; s/  */ /g" "/proc/1/$file" 2>/dev/null
done
echo "ionice $(ionice -p 1)"
echo "nice $(awk '{ print $19, $40, $41 }' /proc/1/stat)"
echo "hostname $(hostname) $(cat /proc/sys/kernel/domainname)"
for key in net/ipv4/ip_forward net/ipv4/ping_group_range kernel/msgmax kernel/shmmax \
	fs/mqueue/msg_max net/ipv4/ip_unprivileged_port_start; do
	echo "sysctl $key $(cat /proc/sys/$key 2>&1)"
done
for file in /dev/*; do
	echo "dev $file $(stat -c '%F %a %u:%g %t:%T' "$file") $(readlink "$file")"
done
for file in /proc/acpi /proc/kcore /proc/keys /proc/timer_list /sys/firmware; do
	if [ -d "$file" ]; then
		echo "masked $file $(find "$file" -mindepth 1 | wc -l) entries, $(stat -c '%a %u:%g' "$file")"
	elif [ -e "$file" ]; then
		echo "masked $file $(head -c 100 "$file" | wc -c) bytes, $(stat -c '%F %t:%T' "$file")"
	fi
done
for file in /proc/sys/kernel/msgmax /proc/sysrq-trigger /proc/irq/default_smp_affinity /sys/x /dev/x \
	/dev/shm/x /x; do
	if (: >>"$file") 2>/dev/null; then
		echo "writable $file yes"
	else
		echo "writable $file no"
	fi
done
echo "lo $(ip -o link show lo 2>/dev/null | sed 's/.*<\(.*\)>.*/\1/')"
echo "links $(echo /sys/class/net/*)"
