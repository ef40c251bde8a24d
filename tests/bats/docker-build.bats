#!/usr/bin/env bats
# places: root
# `brig-docker build` with the real buildah: an image on top of one that was loaded.

load ../lib/common
load ../lib/docker

setup() {
	docker_setup
	unset DOCKER_HOST
	mkdir "$T/tmp" "$T/ctx"
	export TMPDIR=$T/tmp
	echo content >"$T/ctx/file"
}

# What buildah and brig-image have made may be of subordinate ids.
teardown() {
	local in=()
	[ "$EUID" = 0 ] || ! [ -d "$T/data/build" ] || in=(buildah unshare)
	chmod -R u+rwx "$T/data" 2>/dev/null || true
	"${in[@]}" rm -rf "$T/data" "$T/run/build" "$T/tmp" || true
	docker_teardown
}

need_buildah() {
	command -v buildah >/dev/null || skip "buildah is not installed"
	[ "$EUID" = 0 ] || grep -q "^$(id -un):" /etc/subuid || skip "no subordinate ids for buildah"
	"$TESTS_LIB/layered-image" "$T/base.tar" layered:1 "$(command -v busybox)"
	dk load -qi "$T/base.tar"
}

@test "build: base from our store, RUN, COPY, arguments, tags; the cache; -q; stdin" {
	need_buildah
	cat >"$T/ctx/Dockerfile" <<'END'
ARG BASE=nosuch:1
FROM ${BASE} AS first
RUN echo made >/made; cat /etc/f >>/made; /bin/busybox grep -c : /proc/net/dev >/net
FROM ${BASE}
ARG WHAT
LABEL what=$WHAT
COPY --from=first /made /net /
COPY file /copied
CMD ["cat", "/made", "/copied"]
END
	run_dk build -t built:1 -t second/name --build-arg BASE=layered:1 --build-arg WHAT=this --label more=1 \
		--progress plain --iidfile "$T/iid" "$T/ctx"
	assert_status 0
	assert_contains "$output" "Successfully built "
	assert_contains "$output" "Successfully tagged built:1
Successfully tagged second/name:latest"
	assert_equal "$(cat "$T/iid")" "$(dk images -q --no-trunc built:1)"
	assert_equal "$(dk images -q second/name)" "$(dk images -q built:1)"
	assert_equal "$(dk image inspect -f '{{.Config.Labels.what}}{{.Config.Labels.more}}' built:1)" this1
	assert_equal "$(dk run --rm --network none built:1)" "made
second
content"
	# RUN has the network of a container without --network
	assert_equal "$(dk run --rm --network none built:1 cat /net)" 1
	tar -C "$T/ctx" -czf "$T/ctx.tar.gz" .
	run_dk build -t built:2 --build-arg BASE=layered:1 --build-arg WHAT=this - <"$T/ctx.tar.gz"
	assert_status 0
	assert_contains "$output" "Using cache"
	assert_equal "$(dk run --rm --network none built:2 cat /copied)" content
	# a name that means another image now is another base
	dk build -q -t layered:1 - <<<$'FROM layered:1\nRUN echo changed >/etc/f' >"$T/out"
	run_dk build -q --target first --build-arg BASE=layered:1 - <"$T/ctx/Dockerfile"
	assert_equal "$(dk run --rm --network none "$output" cat /made)" "made
changed"
	[ -z "$(ls "$T/tmp")" ] || fail "left: $(ls "$T/tmp")"
	! grep "$T" /proc/mounts || fail "mounts are left"
}

@test "build: a base by its digest; the cache in system df, and gone after system prune" {
	local digest
	need_buildah
	digest=sha256:$(sha256sum <"$T/base.tar" | cut -d' ' -f1)
	"${BRIG_DOCKER%-docker}-image" --data "$T/data" load --silent --name "docker.io/library/layered@$digest" "$T/base.tar"
	run_dk build -q - <<<"FROM layered@$digest
RUN echo made >/made"
	assert_equal "$(dk run --rm --network none "$output" cat /made)" made
	run_dk system df -v
	assert_contains "$output" "layered      1         "
	[[ ${lines[-1]} =~ ^"Build cache usage: "[1-9].*MB$ ]] || fail "$output"
	[[ $(dk system df --format '{{.Type}} {{.Reclaimable}}' | tail -n 1) == "Build Cache "[1-9]*"MB (100%)" ]] || fail "$(dk system df)"
	assert_contains "$(dk system prune -f)" "Deleted build cache objects:"
	[ ! -e "$T/data/build" ] || fail "the cache is there"
}

@test "build: what goes wrong" {
	need_buildah
	printf 'FROM layered:1\nRUN echo said; exit 7\n' >"$T/ctx/Dockerfile"
	run_dk build -t built:1 "$T/ctx"
	assert_status 1
	assert_contains "$output" said
	assert_equal "$(dk images -q built:1)" ""
	run_dk build "$T/nodir"
	assert_status 1
	assert_equal "$stderr" "unable to prepare context: path \"$T/nodir\" not found"
	run_dk build -f "$T/ctx/none" "$T/ctx"
	assert_status 1
	assert_contains "$stderr" "lstat $T/ctx/none: no such file or directory"
	run_dk build - </dev/null
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: the Dockerfile (Dockerfile) cannot be empty"
	run_dk build -t 'Bad Name' "$T/ctx"
	assert_status 1
	assert_contains "$stderr" 'invalid argument "Bad Name" for "-t, --tag" flag'
	run_dk build --nosuch "$T/ctx"
	assert_status 125
	run_dk build
	assert_status 1
	assert_contains "$stderr" "'docker build' requires 1 argument"
	[ -z "$(ls "$T/tmp")" ] || fail "left: $(ls "$T/tmp")"
}

@test "build: without buildah, and plugins that are not there" {
	printf 'FROM scratch\nCOPY file /\n' >"$T/ctx/Dockerfile"
	mkdir "$T/bin"
	run_apart env PATH="$T/bin" "$BRIG_DOCKER" build "$T/ctx"
	assert_status 1
	assert_equal "$stderr" "buildah is not installed, which this command needs: install the package buildah"
	for word in buildx compose; do
		run_dk $word version
		assert_status 1
		assert_equal "$stderr" "docker: unknown command: docker $word

Run 'docker --help' for more information"
	done
}
