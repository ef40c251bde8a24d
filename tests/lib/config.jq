# The config.json of the test bundles: what runc's and crun's `spec` write, with the arguments of
# the command line; for a normal user with a user namespace and without what only root can do.
def mount($type; $to; $options): {destination: $to, type: $type, source: $type, options: $options};
($uid != 0) as $rootless |
{
	ociVersion: "1.2.0",
	process: {
		user: {uid: 0, gid: 0},
		args: $ARGS.positional,
		env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TERM=dumb"],
		cwd: "/",
		capabilities: (["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"] |
			{bounding: ., effective: ., permitted: .}),
		noNewPrivileges: true
	},
	root: {path: $root, readonly: false},
	hostname: "test",
	mounts: [
		mount("proc"; "/proc"; ["nosuid", "noexec", "nodev"]),
		mount("tmpfs"; "/dev"; ["nosuid", "strictatime", "mode=755", "size=65536k"]),
		mount("devpts"; "/dev/pts"; ["nosuid", "noexec", "newinstance", "ptmxmode=0666",
			"mode=0620"] + if $rootless then [] else ["gid=5"] end),
		mount("tmpfs"; "/dev/shm"; ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]),
		mount("mqueue"; "/dev/mqueue"; ["nosuid", "noexec", "nodev"]),
		if $rootless then
			{destination: "/sys", type: "none", source: "/sys",
				options: ["rbind", "nosuid", "noexec", "nodev", "ro"]}
		else
			mount("sysfs"; "/sys"; ["nosuid", "noexec", "nodev", "ro"])
		end
	],
	linux: ({
		namespaces: (["pid", "ipc", "uts", "mount"] +
			if $rootless then ["user"] else ["network", "cgroup"] end | map({type: .})),
		maskedPaths: ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list",
			"/sys/firmware"],
		readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
			"/proc/sysrq-trigger"]
	} + if $rootless then {
		uidMappings: [{containerID: 0, hostID: $uid, size: 1}],
		gidMappings: [{containerID: 0, hostID: $gid, size: 1}]
	} else {} end)
}
