# Makers of root file systems and bundles for the tests.

# A root file system with nothing but a static busybox under all its names; made once, shared read-only. They are
# hard links: to copy as many symbolic ones takes ten times as long.
busybox_rootfs() {
	local bin dir new
	bin=$(command -v busybox) || skip "busybox is not installed"
	dir=$BRIG_TEST_CACHE/busybox-links-$(stat -Lc %s-%Y "$bin")
	if [ ! -d "$dir" ]; then
		mkdir -p "$BRIG_TEST_CACHE"
		new=$(mktemp -d "$BRIG_TEST_CACHE/.new.XXXXXX")
		chmod 755 "$new"
		fill_busybox_rootfs "$bin" "$new"
		mv -T "$new" "$dir" 2>/dev/null || rm -rf "$new"
	fi
	echo "$dir"
}

fill_busybox_rootfs() {
	local applet
	mkdir -p "$2"/{bin,dev,etc,proc,root,run,sys,tmp,usr,var}
	cp "$1" "$2/bin/busybox"
	chmod 755 "$2/bin/busybox"
	for applet in $("$1" --list); do
		[ "$applet" = busybox ] || ln "$2/bin/busybox" "$2/bin/$applet"
	done
	ln -s ../bin "$2/usr/bin"
	chmod 1777 "$2/tmp"
	echo root:x:0:0:root:/root:/bin/sh >"$2/etc/passwd"
	echo root:x:0: >"$2/etc/group"
}

# The root file system with Python of tests/lib/rootfs.
python_rootfs() {
	"$TESTS_LIB/rootfs" 2>/dev/null || skip "no Python rootfs: see tests/lib/rootfs"
}

# make_bundle DIR [ARG...]: a bundle with a busybox rootfs of its own in which ARG... runs (default:
# true). As a normal user it is a rootless one.
make_bundle() {
	local dir=$1
	shift
	mkdir -p "$dir"
	cp -a "$(busybox_rootfs)" "$dir/rootfs"
	write_config "$dir" rootfs "${@:-true}"
}

# make_python_bundle DIR [ARG...]: the same with Python; its rootfs is shared and read-only.
make_python_bundle() {
	local dir=$1
	shift
	mkdir -p "$dir"
	write_config "$dir" "$(python_rootfs)" "${@:-python3}"
	edit_config "$dir" '.root.readonly = true'
}

write_config() {
	local dir=$1 root=$2
	shift 2
	jq -n --arg root "$root" --argjson uid "$EUID" --argjson gid "$([ "$EUID" = 0 ] && echo 0 || id -g)" \
		-f "$TESTS_LIB/config.jq" --args -- "$@" >"$dir/config.json"
}

# edit_config DIR FILTER [JQ-OPTION...]
edit_config() {
	local dir=$1 filter=$2
	shift 2
	jq "$@" "$filter" "$dir/config.json" >"$dir/config.json.new"
	mv "$dir/config.json.new" "$dir/config.json"
}
