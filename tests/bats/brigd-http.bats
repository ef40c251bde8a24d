# places: root rootless
# brigd's HTTP interface.
load ../lib/common
load ../lib/sandbox
load ../lib/brigd

@test "brigd: the HTTP interface, each status and field" {
	ROOTFS=$(python_rootfs)
	export ROOTFS
	brigd_check brigd-http
}
