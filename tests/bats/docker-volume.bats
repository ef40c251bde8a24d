#!/usr/bin/env bats
# places: root rootless
# Volumes of brig-docker.

load ../lib/common
load ../lib/docker

@test "a named volume: filled from the image once, kept, shared, in use, removed" {
	docker_py
	run_dk run --rm -v data:/etc/default py sh -c 'ls -A /etc/default | tr "\n" " "; echo own >/etc/default/own'
	assert_contains "$output" nss
	run_dk run --rm -v data:/v:ro py sh -c 'cat /v/own; rm /v/own 2>&1; ls -A /v | tr "\n" " "'
	assert_contains "$output" "own
rm: cannot remove '/v/own': Read-only file system"
	assert_contains "${lines[-1]}" nss
	run_dk volume ls --format '{{.Name}} {{.Driver}}'
	assert_equal "$output" "data local"
	dk create --name cc -v data:/v py true >/dev/null
	run_dk volume rm data
	assert_status 1
	assert_equal "$stderr" "Error response from daemon: remove data: volume is in use - [$(dk inspect -f '{{.Id}}' cc)]"
	dk rm cc >/dev/null
	run_dk volume rm data nosuch
	assert_status 1
	assert_equal "$output" data
	assert_equal "$stderr" "Error response from daemon: get nosuch: no such volume"
}

@test "anonymous volumes: with --rm, with rm -v, pruned; --volumes-from" {
	docker_py
	dk run --rm -v /anon py sh -c 'echo x >/anon/x'
	assert_equal "$(dk volume ls -q)" ""
	dk create --name aa -v /anon py true >/dev/null
	assert_equal "$(dk volume ls -q | wc -l)" 1
	run_dk run --rm --volumes-from aa py sh -c 'echo shared >/anon/f; cat /anon/f'
	assert_equal "$output" shared
	dk rm -v aa >/dev/null
	assert_equal "$(dk volume ls -q)" ""
	dk volume create --label k=v keep >/dev/null
	dk volume create >/dev/null
	run_dk volume prune -f
	assert_contains "$output" "Total reclaimed space: 0B"
	assert_equal "$(dk volume ls -q)" keep
	run_dk volume inspect -f '{{.Labels.k}} {{.Mountpoint}}' keep
	assert_equal "$output" "v $BRIG_DOCKER_DATA/volumes/keep/_data"
	run_dk volume create 'a b'
	assert_status 1
	assert_contains "$stderr" 'create a b: "a b" includes invalid characters for a local volume name'
	dk volume rm keep >/dev/null
}

@test "a volume over what the kernel shows is empty: nothing of /sys is copied" {
	docker_py
	assert_equal "$(dk run --rm -v kernel:/sys/kernel py ls /sys/kernel)" ""
	dk volume rm kernel
}
