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

# A process of jq takes 20 ms: so the constant part is made once in a run.
write_config() {
	local dir=$1 root=$2 template=${BATS_RUN_TMPDIR:-/absent}/config-$EUID.json args config
	shift 2
	if [ ! -s "$template" ] && [ -w "${template%/*}" ]; then
		config_by_jq @ROOT@ @ARGS@ >"$template"
	fi
	if [ ! -s "$template" ] || ! args=$(json_strings "$root" "$@"); then
		config_by_jq "$root" "$@" >"$dir/config.json"
		return
	fi
	config=$(<"$template")
	root=${args%%$'\n'*} args=${args#*$'\n'}
	config=${config/'"@ROOT@"'/"$root"}
	printf '%s\n' "${config/'"@ARGS@"'/"${args//$'\n'/, }"}" >"$dir/config.json"
}

config_by_jq() {
	local root=$1 gid=0
	shift
	[ "$EUID" = 0 ] || gid=$(id -g)
	jq -n --arg root "$root" --argjson uid "$EUID" --argjson gid "$gid" -f "$TESTS_LIB/config.jq" --args -- "$@"
}

# One a line; fails for what is not plain ASCII.
json_strings() {
	local s LC_ALL=C
	for s; do
		s=${s//\\/\\\\} s=${s//\"/\\\"} s=${s//$'\n'/\\n} s=${s//$'\t'/\\t}
		[[ $s != *[!\ -~]* ]] || return 1
		printf '"%s"\n' "$s"
	done
}

# edit_config DIR FILTER [JQ-OPTION...]
edit_config() {
	local dir=$1 filter=$2 config
	shift 2
	config=$(jq "$@" "$filter" "$dir/config.json")
	printf '%s\n' "$config" >"$dir/config.json"
}
