#!/usr/bin/env bats
# places: root
# Archives that attack `load` (tests/lib/hostile-archives): each is refused with a sentence that says
# why, or loaded without the harm; nothing outside is touched and nothing is left behind.

load ../lib/common

setup() {
	brig_setup
	IMAGE=$(dirname "$BRIG")/brig-image
	[ -x "$IMAGE" ] || fail "no program $IMAGE"
}

# The directory that the archives aim at, and what must be true of it.
make_outside() {
	mkdir "$T/outside"
	echo secret >"$T/outside/secret"
	touch -d 2001-01-01 "$T/outside/secret" "$T/outside"
	BEFORE=$(stat -c '%n %a %u %h %Y %s' "$T/outside" "$T/outside/secret")
}

outside_is_untouched() { [ "$BEFORE" = "$(stat -c '%n %a %u %h %Y %s' "$T/outside" "$T/outside/secret")" ] && [ "$(ls "$T/outside")" = secret ]; }

@test "image, hostile: no archive gets out, and none leaves anything" {
	local file want out code wrong=0 n=0
	make_outside
	"$TESTS_LIB/hostile-archives" "$T/archives" "$T/outside" >"$T/list"
	while IFS=$'\t' read -r file want; do
		code=0 n=$((n + 1))
		out=$(BRIG_IMAGE_MAX_ENTRIES=2000 "$IMAGE" --data "$T/data" load "$T/archives/$file" 2>&1) || code=$?
		if [ "$want" = ok ]; then
			[ "$code" = 0 ] || { wrong=1 && echo "$file: $out"; }
		elif [ "$code" != 1 ] || [[ $out != *"$want"* ]] || [ "$(wc -l <<<"$out")" != 1 ]; then
			wrong=1
			echo "$file: exit code $code, not an error with \"$want\": $out"
		fi
		[ -z "$(ls "$T/data/images/tmp")" ] || { wrong=1 && echo "$file: something is left in tmp"; }
		outside_is_untouched || fail "$file: $(ls -lR "$T/outside")"
	done <"$T/list"
	[ $n -ge 90 ] || fail "only $n archives"
	[ $wrong = 0 ]
}

@test "image, hostile: an archive of a root file system is no image, and load says where it goes" {
	local what top
	mkdir -p "$T/root/etc" "$T/root/bin"
	echo x >"$T/root/etc/hostname"
	for what in 'true' 'ln -s /bin/x bin/sh' 'mkfifo p' 'ln -s ../../.. up'; do
		(cd "$T/root" && eval "$what")
		for top in . etc bin; do
			tar -C "$T/root" -czf "$T/root.tgz" "$top"
			[ "$top" = bin ] && [ "$what" = true ] && continue # empty
			run "$IMAGE" --data "$T/data" load "$T/root.tgz"
			assert_status 1
			assert_contains "$output" "(a root file system is for import, not for load)"
		done
	done
	# Not what fails for another reason, and not what has a document of an image.
	: >"$T/empty.tar"
	echo '[]' >"$T/root/manifest.json"
	mkfifo "$T/root/zzz"
	tar -C "$T/root" -cf "$T/image.tar" manifest.json zzz
	head -c 700 <(tar -C "$T/root" -c etc/hostname) >"$T/cut.tar"
	for what in empty image cut; do
		run "$IMAGE" --data "$T/data" load "$T/$what.tar"
		assert_status 1
		[[ $output != *import,* ]] || fail "$what: $output"
	done
}

@test "image, hostile: what an image may not set is left out" {
	make_outside
	"$TESTS_LIB/hostile-archives" "$T/archives" "$T/outside" >/dev/null
	for name in overlay-xattrs hard-to-link dev-devices absolute; do
		"$IMAGE" --data "$T/data" load "$T/archives/$name.tar" >/dev/null
	done
	python3 - "$T/data/images/layers" <<'END'
import os, stat, sys
names = set()
for base, dirs, files in os.walk(sys.argv[1]):
    for name in dirs + files:
        path = os.path.join(base, name)
        names.add(os.path.relpath(path, sys.argv[1]).split("/diff/")[-1])
        for attribute in os.listxattr(path, follow_symlinks=False):
            assert "overlay" not in attribute and "selinux" not in attribute, (path, attribute)
        assert not stat.S_ISCHR(os.lstat(path).st_mode), path
assert "h" in names and "dev" in names and "dev/null" not in names, names
END
	# a name with "/" in front is a name in the image
	[ -n "$(find "$T/data/images/layers" -path "*/diff$T/outside/absolute")" ]
}

@test "image, hostile: a limit in bytes holds for all layers together" {
	python3 - "$TESTS_LIB" "$T/big.tar" <<'END'
import hashlib, io, json, sys, tarfile
layers = []
for i in range(4):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        info = tarfile.TarInfo("f%d" % i)
        info.size = 300000
        tar.addfile(info, io.BytesIO(b"x" * info.size))
    layers.append(out.getvalue())
config = {"rootfs": {"diff_ids": ["sha256:" + hashlib.sha256(l).hexdigest() for l in layers]}}
members = {"c": json.dumps(config).encode()}
members.update(("l%d" % i, l) for i, l in enumerate(layers))
members["manifest.json"] = json.dumps([{"Config": "c", "RepoTags": ["big:1"], "Layers": ["l0", "l1", "l2", "l3"]}]).encode()
with tarfile.open(sys.argv[2], "w") as tar:
    for name, data in members.items():
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
END
	run env BRIG_IMAGE_MAX_BYTES=1000000 "$IMAGE" --data "$T/data" load "$T/big.tar"
	assert_status 1
	assert_contains "$output" "BRIG_IMAGE_MAX_BYTES"
	run env BRIG_IMAGE_MAX_BYTES=1500000 "$IMAGE" --data "$T/data" load "$T/big.tar"
	assert_status 0
	assert_equal "$output" "Loaded image: big:1"
}

@test "image, hostile: brig-image can open nothing else and start nothing once it reads an archive" {
	command -v strace >/dev/null || skip "strace is not installed"
	"$TESTS_LIB/hostile-archives" "$T/archives" "$T/outside" >/dev/null
	strace -f -e trace=prctl,landlock_restrict_self,openat -o "$T/trace" \
		"$IMAGE" --data "$T/data" load "$T/archives/absolute.tar"
	grep -q 'PR_SET_SECCOMP.*= 0' "$T/trace"
	# after the filter every file is opened relative to a directory descriptor
	sed -n '/PR_SET_SECCOMP/,$p' "$T/trace" | grep 'openat(AT_FDCWD' >"$T/others" || true
	[ ! -s "$T/others" ] || fail "$(cat "$T/others")"
}

@test "image, hostile: a tree of five thousand levels is removed, after a removal that was killed as well" {
	python3 - "$T/deep" <<-'END'
		import os, sys
		os.mkdir(sys.argv[1])
		os.makedirs(sys.argv[1] + ".deep0/left/there")
		os.chdir(sys.argv[1])
		for i in range(5000):
		    os.mkdir("d")
		    os.symlink("/etc", "link")
		    os.chdir("d")
	END
	"$IMAGE" remove "$T/deep"
	assert_equal "$(find "$T" -mindepth 1 -name "deep*")" ""
	[ -d /etc ]
}
