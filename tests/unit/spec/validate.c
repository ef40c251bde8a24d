/* SPDX-License-Identifier: Apache-2.0 */
/* One good and one bad document for every rule of spec_validate, with the message. */
#include <errno.h>

#include "spec/spec.h"
#include "tests/unit/test.h"

enum where { DOC, TOP, PROCESS, LINUX, RESOURCES, SECCOMP };

static const char *const templates[] = {
	[DOC] = "%s",
	[TOP] = "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},%s}",
	[PROCESS] = "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},"
		    "\"process\":{\"cwd\":\"/\",\"args\":[\"a\"],%s}}",
	[LINUX] = "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},\"linux\":{%s}}",
	[RESOURCES] = "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},"
		      "\"linux\":{\"resources\":{%s}}}",
	[SECCOMP] = "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"r\"},"
		    "\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",%s}}}",
};

static const struct rule {
	enum where where;
	const char *text;
	const char *msg; /* NULL: fine */
} rules[] = {
	/* the document */
	{DOC, "{\"ociVersion\":\"1.0.2\"}", "root: is missing"},
	{DOC, "{\"root\":{\"path\":\"r\"}}", "ociVersion: is missing"},
	{DOC, "{\"ociVersion\":\"1.0.2\",\"root\":{}}", "root.path: is missing"},
	{DOC, "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"\"}}", "root.path: is empty"},
	{DOC, "{\"ociVersion\":\"1.2.0-rc.1+x.5\",\"root\":{\"path\":\"r\"}}", NULL},
	{DOC, "{\"ociVersion\":\"1.99.0\",\"root\":{\"path\":\"r\"}}", NULL},
	{DOC, "{\"ociVersion\":\"1.0\",\"root\":{\"path\":\"r\"}}",
	 "ociVersion: \"1.0\" is not a version like 1.3.0"},
	{DOC, "{\"ociVersion\":\"1.0.2-\",\"root\":{\"path\":\"r\"}}",
	 "ociVersion: \"1.0.2-\" is not a version like 1.3.0"},
	{DOC, "{\"ociVersion\":\"1.01.2\",\"root\":{\"path\":\"r\"}}",
	 "ociVersion: \"1.01.2\" is not a version like 1.3.0"},
	{DOC, "{\"ociVersion\":\"2.0.0\",\"root\":{\"path\":\"r\"}}",
	 "ociVersion: 2.0.0 is not supported, only 1.x is"},
	{DOC, "{\"ociVersion\":\"0.1.0\",\"root\":{\"path\":\"r\"}}",
	 "ociVersion: 0.1.0 is not supported, only 1.x is"},
	{TOP, "\"windows\":{\"layerFolders\":3},\"vm\":[],\"unknown\":{\"a\":null}", NULL},
	{TOP, "\"annotations\":{\"a\":\"\"}", NULL},
	{TOP, "\"annotations\":{\"\":\"x\"}", "annotations: a key is empty"},
	{TOP, "\"annotations\":{\"a\":1}", "annotations.a: is a number, not a string"},
	{TOP, "\"hostname\":\"h\"", "hostname: would change the host's: linux.namespaces has no uts namespace"},
	{TOP, "\"domainname\":\"h\"", "domainname: would change the host's: linux.namespaces has no uts namespace"},
	{TOP, "\"hostname\":\"h\",\"domainname\":\"d\",\"linux\":{\"namespaces\":[{\"type\":\"uts\"}]}", NULL},
	{TOP, "\"hostname\":\"0123456789012345678901234567890123456789012345678901234567890123\","
	      "\"linux\":{\"namespaces\":[{\"type\":\"uts\"}]}", NULL},
	{TOP, "\"hostname\":\"01234567890123456789012345678901234567890123456789012345678901234\","
	      "\"linux\":{\"namespaces\":[{\"type\":\"uts\"}]}", "hostname: is longer than 64 bytes"},
	/* mounts */
	{TOP, "\"mounts\":[{\"destination\":\"/a\"},{\"destination\":\"b\"}]", NULL},
	{TOP, "\"mounts\":[{\"destination\":\"/a\"},{\"destination\":\"/a\"},{\"destination\":\"/a\"},{}]",
	 "mounts[3].destination: is missing"},
	{TOP, "\"mounts\":[{\"destination\":\"\"}]", "mounts[0].destination: is empty"},
	{TOP, "\"mounts\":[{\"destination\":\"/a\",\"options\":[\"rbind\"]}]",
	 "mounts[0].source: is missing, and a bind mount needs it"},
	{TOP, "\"mounts\":[{\"destination\":\"/a\",\"type\":\"bind\",\"source\":\"/x\"}]", NULL},
	{TOP, "\"mounts\":[{\"destination\":\"/a\",\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]}]",
	 "mounts[0]: uidMappings and gidMappings must be given together"},
	{TOP, "\"mounts\":[{\"destination\":\"/a\",\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}],"
	      "\"gidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":0}]}]",
	 "mounts[0].gidMappings[0].size: must be larger than 0"},
	/* hooks */
	{TOP, "\"hooks\":{\"prestart\":[{\"path\":\"/h\",\"timeout\":1}],\"poststop\":[]}", NULL},
	{TOP, "\"hooks\":{\"poststart\":[{}]}", "hooks.poststart[0].path: is missing"},
	{TOP, "\"hooks\":{\"createRuntime\":[{\"path\":\"/h\"},{\"path\":\"h\"}]}",
	 "hooks.createRuntime[1].path: \"h\" is not an absolute path"},
	{TOP, "\"hooks\":{\"startContainer\":[{\"path\":\"/h\",\"timeout\":0}]}",
	 "hooks.startContainer[0].timeout: must be larger than 0"},
	{TOP, "\"hooks\":{\"createContainer\":[{\"path\":\"/h\",\"timeout\":-5}]}",
	 "hooks.createContainer[0].timeout: must be larger than 0"},
	/* process */
	{TOP, "\"process\":{\"args\":[\"a\"]}", "process.cwd: is missing"},
	{TOP, "\"process\":{\"cwd\":\"/\"}", "process.args: must have at least one entry"},
	{TOP, "\"process\":{\"cwd\":\"/\",\"args\":[\"\"]}", "process.args[0]: is empty"},
	{TOP, "\"process\":{\"cwd\":\"tmp\",\"args\":[\"a\"]}", "process.cwd: \"tmp\" is not an absolute path"},
	{PROCESS, "\"user\":{\"uid\":2147483647,\"gid\":2147483647,\"umask\":511}", NULL},
	{PROCESS, "\"user\":{\"uid\":4294967296}", "process.user.uid: 4294967296 is not a 32-bit unsigned integer"},
	{PROCESS, "\"user\":{\"uid\":4294967295}", "process.user.uid: 4294967295 is larger than 2147483647"},
	{PROCESS, "\"user\":{\"gid\":2147483648}", "process.user.gid: 2147483648 is larger than 2147483647"},
	{PROCESS, "\"user\":{\"uid\":\"root\"}", "process.user.uid: is a string, not a 32-bit unsigned integer"},
	{PROCESS, "\"user\":{\"uid\":1.0}", "process.user.uid: 1.0 is not a 32-bit unsigned integer"},
	{PROCESS, "\"user\":{\"uid\":1e3}", "process.user.uid: 1e3 is not a 32-bit unsigned integer"},
	{PROCESS, "\"user\":{\"umask\":512}", "process.user.umask: 512 is larger than 511 (0777)"},
	{PROCESS, "\"user\":{\"additionalGids\":[1,4294967295]}",
	 "process.user.additionalGids[1]: 4294967295 is larger than 2147483647"},
	{PROCESS, "\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"soft\":18446744073709551615,"
		  "\"hard\":18446744073709551615},{\"type\":\"RLIMIT_CPU\",\"soft\":1,\"hard\":2}]", NULL},
	{PROCESS, "\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"soft\":2,\"hard\":1}]",
	 "process.rlimits[0]: the soft limit of RLIMIT_CORE is larger than the hard limit"},
	{PROCESS, "\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"soft\":1,\"hard\":1},"
		  "{\"type\":\"RLIMIT_CORE\",\"soft\":1,\"hard\":1}]",
	 "process.rlimits[1].type: RLIMIT_CORE is there twice"},
	{PROCESS, "\"rlimits\":[{\"type\":\"RLIMIT_X\",\"soft\":1,\"hard\":1}]",
	 "process.rlimits[0].type: \"RLIMIT_X\" is not one of RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, RLIMIT_DATA, "
	 "RLIMIT_FSIZE, RLIMIT_LOCKS, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE, RLIMIT_NICE, RLIMIT_NOFILE, "
	 "RLIMIT_NPROC, RLIMIT_RSS, RLIMIT_RTPRIO, RLIMIT_RTTIME, RLIMIT_SIGPENDING, RLIMIT_STACK"},
	{PROCESS, "\"capabilities\":{\"bounding\":[\"CAP_FUTURE\",\"nonsense\"]}", NULL},
	{PROCESS, "\"oomScoreAdj\":-1000", NULL},
	{PROCESS, "\"oomScoreAdj\":1001", "process.oomScoreAdj: 1001 is not between -1000 and 1000"},
	{PROCESS, "\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":7}", NULL},
	{PROCESS, "\"ioPriority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":8}",
	 "process.ioPriority.priority: 8 is not between 0 and 7"},
	{PROCESS, "\"ioPriority\":{\"class\":\"BE\"}",
	 "process.ioPriority.class: \"BE\" is not one of IOPRIO_CLASS_RT, IOPRIO_CLASS_BE, IOPRIO_CLASS_IDLE"},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":99}", NULL},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_FIFO\"}",
	 "process.scheduler.priority: 0 is not between 1 and 99"},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_OTHER\",\"priority\":1}",
	 "process.scheduler.priority: has no meaning with SCHED_OTHER"},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_BATCH\",\"nice\":-21}",
	 "process.scheduler.nice: -21 is not between -20 and 19"},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_IDLE\",\"nice\":1}",
	 "process.scheduler.nice: has no meaning with SCHED_IDLE"},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_RR\",\"priority\":1,\"runtime\":1}",
	 "process.scheduler: runtime, deadline and period have no meaning with SCHED_RR"},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":1,\"deadline\":2,\"period\":2}", NULL},
	{PROCESS, "\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"runtime\":3,\"deadline\":2,\"period\":2}",
	 "process.scheduler: SCHED_DEADLINE needs 0 < runtime <= deadline <= period"},
	{PROCESS, "\"execCPUAffinity\":{\"initial\":\"0-3,7\",\"final\":\"\"}", NULL},
	{PROCESS, "\"execCPUAffinity\":{\"initial\":\"3-0\"}",
	 "process.execCPUAffinity.initial: \"3-0\" is not a list of CPUs"},
	{PROCESS, "\"execCPUAffinity\":{\"final\":\"1,\"}",
	 "process.execCPUAffinity.final: \"1,\" is not a list of CPUs"},
	{PROCESS, "\"consoleSize\":{\"height\":70000,\"width\":1}", NULL},
	{PROCESS, "\"terminal\":true,\"consoleSize\":{\"height\":70000,\"width\":1}",
	 "process.consoleSize: height and width must be below 65536"},
	{PROCESS, "\"consoleSize\":{\"height\":1}", "process.consoleSize.width: is missing"},
	{PROCESS, "\"apparmorProfile\":\"a\\nb\"", "process.apparmorProfile: contains a control character"},
	{PROCESS, "\"selinuxLabel\":\"a\\u001bb\"", "process.selinuxLabel: contains a control character"},
	/* namespaces and mappings */
	{LINUX, "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":\"/n\"},"
		"{\"type\":\"ipc\",\"path\":\"\"},{\"type\":\"time\"}]", NULL},
	{LINUX, "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"usr\"}]",
	 "linux.namespaces[1].type: \"usr\" is not one of mount, pid, network, uts, ipc, user, cgroup, time"},
	{LINUX, "\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"uts\"},{\"type\":\"pid\"}]",
	 "linux.namespaces[2].type: pid is there twice"},
	{LINUX, "\"namespaces\":[{\"type\":\"pid\",\"path\":\"proc/1/ns/pid\"}]",
	 "linux.namespaces[0].path: \"proc/1/ns/pid\" is not an absolute path"},
	{LINUX, "\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":1}]",
	 "linux: uidMappings and gidMappings must be given together"},
	{LINUX, "\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":1}],"
		"\"gidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":1}]",
	 "linux.uidMappings: linux.namespaces has no user namespace to map"},
	{LINUX, "\"namespaces\":[{\"type\":\"user\"}],"
		"\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":4294967295}],"
		"\"gidMappings\":[{\"containerID\":0,\"hostID\":5,\"size\":1},{\"containerID\":1,\"hostID\":0,\"size\":5}]",
	 NULL},
	{LINUX, "\"namespaces\":[{\"type\":\"user\"}],"
		"\"uidMappings\":[{\"containerID\":1,\"hostID\":0,\"size\":4294967295}],"
		"\"gidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":1}]",
	 "linux.uidMappings[0].size: 4294967295 goes beyond the last id"},
	{LINUX, "\"namespaces\":[{\"type\":\"user\"}],"
		"\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":10},{\"containerID\":9,\"hostID\":20,\"size\":1}],"
		"\"gidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":1}]",
	 "linux.uidMappings[1]: its container ids overlap with entry 0"},
	{LINUX, "\"namespaces\":[{\"type\":\"user\"}],"
		"\"uidMappings\":[{\"containerID\":0,\"hostID\":0,\"size\":10}],"
		"\"gidMappings\":[{\"containerID\":0,\"hostID\":5,\"size\":1},{\"containerID\":1,\"hostID\":0,\"size\":6}]",
	 "linux.gidMappings[1]: its host ids overlap with entry 0"},
	{LINUX, "\"timeOffsets\":{}", NULL},
	{LINUX, "\"timeOffsets\":{\"boottime\":{\"secs\":1}}",
	 "linux.timeOffsets: linux.namespaces has no new time namespace"},
	{LINUX, "\"namespaces\":[{\"type\":\"time\"}],\"timeOffsets\":{\"monotonic\":{\"nanosecs\":1000000000}}",
	 "linux.timeOffsets.monotonic.nanosecs: must be below 1000000000"},
	/* devices */
	{LINUX, "\"devices\":[{\"type\":\"c\",\"path\":\"/dev/fuse\",\"major\":10,\"minor\":229,\"fileMode\":438,"
		"\"uid\":0,\"gid\":0},{\"type\":\"p\",\"path\":\"/dev/p\"}]", NULL},
	{LINUX, "\"devices\":[{\"type\":\"c\",\"path\":\"/dev/x\",\"minor\":1}]", "linux.devices[0].major: is missing"},
	{LINUX, "\"devices\":[{\"type\":\"u\",\"path\":\"/dev/x\",\"major\":1}]", "linux.devices[0].minor: is missing"},
	{LINUX, "\"devices\":[{\"type\":\"b\",\"path\":\"/dev/x\",\"major\":4096,\"minor\":1}]",
	 "linux.devices[0].major: 4096 is not between 0 and 4095"},
	{LINUX, "\"devices\":[{\"type\":\"b\",\"path\":\"/dev/x\",\"major\":1,\"minor\":-1}]",
	 "linux.devices[0].minor: -1 is not between 0 and 1048575"},
	{LINUX, "\"devices\":[{\"type\":\"x\",\"path\":\"/dev/x\"}]",
	 "linux.devices[0].type: \"x\" is not one of c, b, u, p"},
	{LINUX, "\"devices\":[{\"type\":\"p\",\"path\":\"/dev/../x\"}]",
	 "linux.devices[0].path: \"/dev/../x\" is not the full path of a file"},
	{LINUX, "\"devices\":[{\"type\":\"p\",\"path\":\"dev/x\"}]",
	 "linux.devices[0].path: \"dev/x\" is not the full path of a file"},
	{LINUX, "\"devices\":[{\"type\":\"p\",\"path\":\"/x\",\"fileMode\":2048}]",
	 "linux.devices[0].fileMode: 2048 is larger than 511 (0777)"},
	{LINUX, "\"devices\":[{\"type\":\"p\",\"path\":\"/x\",\"uid\":4294967295}]",
	 "linux.devices[0].uid: 4294967295 is larger than 2147483647"},
	{LINUX, "\"netDevices\":{\"eth0\":{}}", "linux.netDevices: linux.namespaces has no network namespace"},
	{LINUX, "\"namespaces\":[{\"type\":\"network\"}],\"netDevices\":{\"eth0\":{\"name\":\"c%d\"},\"eth1\":{}}", NULL},
	{LINUX, "\"namespaces\":[{\"type\":\"network\"}],\"netDevices\":{\"a/b\":{}}",
	 "linux.netDevices: \"a/b\" is not an interface name"},
	{LINUX, "\"namespaces\":[{\"type\":\"network\"}],\"netDevices\":{\"e\":{\"name\":\"0123456789abcdef\"}}",
	 "linux.netDevices.e.name: \"0123456789abcdef\" is not an interface name"},
	{LINUX, "\"namespaces\":[{\"type\":\"network\"}],\"netDevices\":{\"e\":{\"name\":\"a%s\"}}",
	 "linux.netDevices.e.name: \"a%s\" is not an interface name"},
	/* the small ones */
	{LINUX, "\"sysctl\":{\"net.ipv4.ip_forward\":\"1\",\"net.ipv4.conf.eth0@if2.x\":\"a b\"}", NULL},
	{LINUX, "\"sysctl\":{\"net/ipv4\":\"1\",\"net/ipv4/conf/a.b/x\":\"1\",\"net.ipv4.conf.a/b.x\":\"1\"}", NULL},
	{LINUX, "\"sysctl\":{\"net/ipv4/../x\":\"1\"}", "linux.sysctl: \"net.ipv4.//.x\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"net.ipv4.//.x\":\"1\"}", "linux.sysctl: \"net.ipv4.//.x\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"net.ipv4./x\":\"1\"}", "linux.sysctl: \"net.ipv4./x\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"/net/x\":\"1\"}", "linux.sysctl: \".net.x\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"net/x/\":\"1\"}", "linux.sysctl: \"net.x.\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"net..x\":\"1\"}", "linux.sysctl: \"net..x\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"net\":\"1\"}", "linux.sysctl: \"net\" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"a.b \":\"1\"}", "linux.sysctl: \"a.b \" is not a key like net.core.somaxconn"},
	{LINUX, "\"sysctl\":{\"kernel.sem\":\"1\\nkernel.x=2\"}", "linux.sysctl.kernel.sem: the value has more than one line"},
	{LINUX, "\"maskedPaths\":[\"/a\",\"b\"]", "linux.maskedPaths[1]: \"b\" is not an absolute path"},
	{LINUX, "\"readonlyPaths\":[\"\"]", "linux.readonlyPaths[0]: \"\" is not an absolute path"},
	{LINUX, "\"cgroupsPath\":\"/a/b..c\"", NULL},
	{LINUX, "\"cgroupsPath\":\"system.slice:brig:x\"", NULL},
	{LINUX, "\"cgroupsPath\":\"/a/../b\"", "linux.cgroupsPath: \"/a/../b\" has a \"..\" component"},
	{LINUX, "\"cgroupsPath\":\"..\"", "linux.cgroupsPath: \"..\" has a \"..\" component"},
	{LINUX, "\"cgroupsPath\":\"a\\nb\"", "linux.cgroupsPath: contains a control character"},
	{LINUX, "\"rootfsPropagation\":\"rslave\"", NULL},
	{LINUX, "\"rootfsPropagation\":\"x\"", "linux.rootfsPropagation: \"x\" is not one of private, shared, slave, "
		"unbindable, rprivate, rshared, rslave, runbindable"},
	{LINUX, "\"intelRdt\":{\"closID\":\"/\",\"memBwSchema\":\"MB:0=1\",\"schemata\":[\"L3:0=f\"]}", NULL},
	{LINUX, "\"intelRdt\":{\"closID\":\"../x\"}", "linux.intelRdt.closID: \"../x\" is not the name of a directory"},
	{LINUX, "\"intelRdt\":{\"memBwSchema\":\"L3:0=1\"}", "linux.intelRdt.memBwSchema: must start with \"MB:\""},
	{LINUX, "\"intelRdt\":{\"memBwSchema\":\"MB:0\\nL3:\"}", "linux.intelRdt.memBwSchema: has more than one line"},
	{LINUX, "\"intelRdt\":{\"l3CacheSchema\":\"L3:\\n\"}", "linux.intelRdt.l3CacheSchema: has more than one line"},
	{LINUX, "\"intelRdt\":{\"schemata\":[\"a\",\"b\\nc\"]}", "linux.intelRdt.schemata[1]: has more than one line"},
	{LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_INTERLEAVE\",\"nodes\":\"2-3\",\"flags\":[\"MPOL_F_STATIC_NODES\"]}", NULL},
	{LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_PREFERRED\"}", NULL},
	{LINUX, "\"memoryPolicy\":{}", "linux.memoryPolicy.mode: is missing"},
	{LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_BIND\"}", "linux.memoryPolicy.nodes: MPOL_BIND needs at least one node"},
	{LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_LOCAL\",\"nodes\":\"0\"}",
	 "linux.memoryPolicy.nodes: must be empty with MPOL_LOCAL"},
	{LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"a\"}",
	 "linux.memoryPolicy.nodes: \"a\" is not a list of memory nodes"},
	{LINUX, "\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0\",\"flags\":[\"MPOL_F_STATIC_NODES\","
		"\"MPOL_F_RELATIVE_NODES\"]}",
	 "linux.memoryPolicy.flags: MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other"},
	{LINUX, "\"personality\":{\"domain\":\"LINUX32\"}", NULL},
	{LINUX, "\"personality\":{\"domain\":\"LINUX\",\"flags\":[\"X\"]}",
	 "linux.personality.flags[0]: \"X\" is not known, no flag is"},
	/* resources */
	{RESOURCES, "\"devices\":[{\"allow\":false,\"access\":\"rwm\"},{\"allow\":true,\"type\":\"c\",\"major\":-1,"
		    "\"minor\":5}]", NULL},
	{RESOURCES, "\"devices\":[{}]", "linux.resources.devices[0].allow: is missing"},
	{RESOURCES, "\"devices\":[{\"allow\":true,\"type\":\"u\"}]",
	 "linux.resources.devices[0].type: \"u\" is not one of a, b, c"},
	{RESOURCES, "\"devices\":[{\"allow\":true,\"major\":-2}]",
	 "linux.resources.devices[0].major: -2 is not a device number"},
	{RESOURCES, "\"devices\":[{\"allow\":true,\"minor\":4294967296}]",
	 "linux.resources.devices[0].minor: 4294967296 is not a device number"},
	{RESOURCES, "\"devices\":[{\"allow\":true,\"access\":\"rx\"}]",
	 "linux.resources.devices[0].access: \"rx\" is not made of r, w and m"},
	{RESOURCES, "\"memory\":{\"limit\":-1,\"swap\":-1,\"swappiness\":100}", NULL},
	{RESOURCES, "\"memory\":{\"limit\":-2}", "linux.resources.memory.limit: -2 is neither a size nor -1"},
	{RESOURCES, "\"memory\":{\"kernelTCP\":-9}", "linux.resources.memory.kernelTCP: -9 is neither a size nor -1"},
	{RESOURCES, "\"memory\":{\"swappiness\":101}", "linux.resources.memory.swappiness: 101 is larger than 100"},
	{RESOURCES, "\"memory\":{\"limit\":100,\"swap\":99}",
	 "linux.resources.memory.swap: is memory and swap together, and so must not be smaller than limit"},
	{RESOURCES, "\"cpu\":{\"quota\":-1,\"burst\":5,\"cpus\":\"0-3,7\",\"mems\":\"\",\"idle\":1}", NULL},
	{RESOURCES, "\"cpu\":{\"quota\":4,\"burst\":5}", "linux.resources.cpu.burst: must not be larger than quota"},
	{RESOURCES, "\"cpu\":{\"quota\":4,\"period\":0}", "linux.resources.cpu.period: must be larger than 0"},
	{RESOURCES, "\"cpu\":{\"idle\":2}", "linux.resources.cpu.idle: 2 is neither 0 nor 1"},
	{RESOURCES, "\"cpu\":{\"cpus\":\"0..3\"}", "linux.resources.cpu.cpus: \"0..3\" is not a list of CPUs"},
	{RESOURCES, "\"cpu\":{\"mems\":\"-1\"}", "linux.resources.cpu.mems: \"-1\" is not a list of memory nodes"},
	{RESOURCES, "\"pids\":{\"limit\":0}", NULL},
	{RESOURCES, "\"pids\":{\"limit\":-1}", NULL},
	{RESOURCES, "\"pids\":{\"limit\":-2}", "linux.resources.pids.limit: -2 is neither a number nor -1"},
	{RESOURCES, "\"blockIO\":{\"weight\":65536}", "linux.resources.blockIO.weight: 65536 is not a 16-bit unsigned integer"},
	{RESOURCES, "\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0}]}",
	 "linux.resources.blockIO.weightDevice[0]: needs weight or leafWeight"},
	{RESOURCES, "\"blockIO\":{\"weightDevice\":[{\"major\":-1,\"minor\":0,\"weight\":10}]}",
	 "linux.resources.blockIO.weightDevice[0].major: -1 is not a device number"},
	{RESOURCES, "\"blockIO\":{\"throttleWriteIOPSDevice\":[{\"major\":8,\"minor\":-1,\"rate\":1}]}",
	 "linux.resources.blockIO.throttleWriteIOPSDevice[0].minor: -1 is not a device number"},
	{RESOURCES, "\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":1}]}",
	 "linux.resources.blockIO.throttleReadBpsDevice[0].rate: is missing"},
	{RESOURCES, "\"hugepageLimits\":[{\"pageSize\":\"64KB\",\"limit\":18446744073709551615}]", NULL},
	{RESOURCES, "\"hugepageLimits\":[{\"pageSize\":\"../2MB\",\"limit\":0}]",
	 "linux.resources.hugepageLimits[0].pageSize: \"../2MB\" is not a size like 2MB"},
	{RESOURCES, "\"hugepageLimits\":[{\"pageSize\":\"2MB/\",\"limit\":0}]",
	 "linux.resources.hugepageLimits[0].pageSize: \"2MB/\" is not a size like 2MB"},
	{RESOURCES, "\"network\":{\"classID\":4294967295,\"priorities\":[{\"name\":\"eth0\",\"priority\":1}]}", NULL},
	{RESOURCES, "\"network\":{\"priorities\":[{\"name\":\"a b\",\"priority\":1}]}",
	 "linux.resources.network.priorities[0].name: \"a b\" is not an interface name"},
	{RESOURCES, "\"rdma\":{\"mlx5_1\":{\"hcaHandles\":3}}", NULL},
	{RESOURCES, "\"rdma\":{\"mlx5_1\":{}}", "linux.resources.rdma.mlx5_1: needs hcaHandles or hcaObjects"},
	{RESOURCES, "\"rdma\":{\"a b\":{\"hcaObjects\":3}}", "linux.resources.rdma: \"a b\" is not a device name"},
	{RESOURCES, "\"unified\":{\"io.max\":\"8:0 rbps=1\\n8:1 rbps=2\",\"hugetlb.1GB.max\":\"1\"}", NULL},
	{RESOURCES, "\"unified\":{\"../memory.max\":\"1\"}",
	 "linux.resources.unified: \"../memory.max\" is not the name of a cgroup file"},
	{RESOURCES, "\"unified\":{\"..\":\"1\"}", "linux.resources.unified: \"..\" is not the name of a cgroup file"},
	/* seccomp */
	{SECCOMP, "\"defaultErrnoRet\":38,\"architectures\":[\"SCMP_ARCH_X86_64\"],\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\"]", NULL},
	{SECCOMP, "\"defaultErrnoRet\":4096", "linux.seccomp.defaultErrnoRet: 4096 is larger than 4095"},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_TRACE\",\"errnoRet\":65535}]", NULL},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_ALLOW\",\"errnoRet\":1}]",
	 "linux.seccomp.syscalls[0].errnoRet: the action SCMP_ACT_ALLOW takes no errno"},
	{SECCOMP, "\"syscalls\":[{\"names\":[],\"action\":\"SCMP_ACT_ALLOW\"}]",
	 "linux.seccomp.syscalls[0].names: must have at least one entry"},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\",\"\"],\"action\":\"SCMP_ACT_ALLOW\"}]",
	 "linux.seccomp.syscalls[0].names[1]: is empty"},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":6,\"value\":1,"
		  "\"op\":\"SCMP_CMP_EQ\"}]}]", "linux.seccomp.syscalls[0].args[0].index: 6 is larger than 5"},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":5,"
		  "\"value\":18446744073709551615,\"valueTwo\":1,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]", NULL},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":5,\"value\":1,"
		  "\"op\":\"EQ\"}]}]",
	 "linux.seccomp.syscalls[0].args[0].op: \"EQ\" is not one of SCMP_CMP_NE, SCMP_CMP_LT, SCMP_CMP_LE, "
	 "SCMP_CMP_EQ, SCMP_CMP_GE, SCMP_CMP_GT, SCMP_CMP_MASKED_EQ"},
	{SECCOMP, "\"listenerMetadata\":\"m\"", "linux.seccomp.listenerMetadata: needs listenerPath"},
	{SECCOMP, "\"listenerPath\":\"relative\"", NULL},
	{SECCOMP, "\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_NOTIFY\"}]",
	 "linux.seccomp.listenerPath: is missing, and SCMP_ACT_NOTIFY needs it"},
	{SECCOMP, "\"listenerPath\":\"x\",\"syscalls\":[{\"names\":[\"a\"],\"action\":\"SCMP_ACT_NOTIFY\"}]",
	 "linux.seccomp.listenerPath: \"x\" is not an absolute path"},
	{LINUX, "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"defaultErrnoRet\":1}",
	 "linux.seccomp.defaultErrnoRet: the action SCMP_ACT_ALLOW takes no errno"},
	{LINUX, "\"seccomp\":{}", "linux.seccomp.defaultAction: is missing"},
};

static void test_rules(void)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const char *template = templates[rules[i].where], *mark = strstr(template, "%s");
		auto_arena struct arena *a = arena_new();
		char *text = arena_printf(a, "%.*s%s%s", (int)(mark - template), template,
					  rules[i].text, mark + 2);
		struct oci_spec *s = NULL;
		struct err e = {0};
		int r = spec_parse(text, strlen(text), a, &s, &e);

		CHECK((r == 0) == (s != NULL));
		CHECK_STR(e.msg, rules[i].msg ? rules[i].msg : "");
		CHECK((r < 0) == (rules[i].msg != NULL));
	}
}

TEST_MAIN(TEST(test_rules))
