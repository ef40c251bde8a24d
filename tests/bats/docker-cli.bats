#!/usr/bin/env bats
# places: root
# The command line by itself: help, errors before a command runs, completion, the manual page.

load ../lib/common
load ../lib/docker

# --help lists the flags of a command as "--name".
flags_of() { "$BRIG_DOCKER" "$@" --help | grep -oE '^ +(-., )?--[a-z0-9-]+' | grep -oE -- '--.*' | sort; }

@test "help: docker, a group, a command, and where they go" {
	run_dk --help
	assert_status 0
	[[ $output == $'Usage:  docker [OPTIONS] COMMAND\n\nA self-sufficient runtime for containers\n\nCommon Commands:\n  run         Create and run a new container from an image\n'* ]] || fail "$output"
	run_apart "$BRIG_DOCKER"
	assert_equal "$status ${#output}" "0 0"
	[[ $stderr == 'Usage:  docker [OPTIONS] COMMAND'* ]] || fail "$stderr"
	run_apart "$BRIG_DOCKER" network
	assert_equal "$status ${#output}" "0 0"
	[[ $stderr == *"Run 'docker network COMMAND --help' for more information on a command." ]] || fail "$stderr"
	run_dk ps -h
	[[ $output == *$'Aliases:\n  docker container ls, docker container list, docker container ps, docker ps\n'* ]] || fail "$output"
	run_dk help container run
	[[ $output == 'Usage:  docker container run [OPTIONS] IMAGE [COMMAND] [ARG...]'* ]] || fail "$output"
	run_dk help version
	[[ $output == 'Usage:  docker version [OPTIONS]'* ]] || fail "$output"
	local topic
	for topic in help --help 'run --help'; do
		# shellcheck disable=SC2086
		run_dk help $topic
		[[ $status == 0 && $output == $'Usage:  docker help [command]\n\nHelp about the command'* ]] || fail "$topic: $output"
	done
	run_dk run --name x --help ignored --bogus
	[[ $status == 0 && $output == 'Usage:  docker run '* ]] || fail "$status $output"
	# No line is longer than a terminal is wide.
	run_dk run --help
	awk 'length > 80 { exit 1 }' <<<"$output"
}

@test "errors: unknown commands, flags, numbers of arguments" {
	run_apart "$BRIG_DOCKER" nosuch
	assert_equal "$status|$stderr" $'1|docker: unknown command: docker nosuch\n\nRun \'docker --help\' for more information'
	run_apart "$BRIG_DOCKER" network nosuch
	assert_equal "$status|$stderr" $'1|docker: unknown command: docker network nosuch\n\nUsage:  docker network\n\nRun \'docker network --help\' for more information'
	run_apart "$BRIG_DOCKER" nosuch --foo
	assert_equal "$status|$stderr" $'125|unknown flag: --foo\n\nUsage:  docker [OPTIONS] COMMAND [ARG...]\n\nRun \'docker --help\' for more information'
	run_apart "$BRIG_DOCKER" container rm --foo x
	assert_equal "$status|$stderr" $'125|unknown flag: --foo\n\nUsage:  docker container rm [OPTIONS] CONTAINER [CONTAINER...]\n\nRun \'docker container rm --help\' for more information'
	run_apart "$BRIG_DOCKER" exec one
	assert_equal "$status|$stderr" $'1|docker: \'docker exec\' requires at least 2 arguments\n\nUsage:  docker exec [OPTIONS] CONTAINER COMMAND [ARG...]\n\nSee \'docker exec --help\' for more information'
	run_apart "$BRIG_DOCKER" -l foo ps
	assert_equal "$status|$stderr" "1|Unable to parse logging level: foo"
	run_apart "$BRIG_DOCKER" help run --foo
	assert_equal "$status|$stderr" $'125|unknown flag: --foo\n\nUsage:  docker help [command]\n\nRun \'docker help --help\' for more information'
	local words
	for words in --version '--version foo' '-v foo bar' 'foo --version'; do
		# shellcheck disable=SC2086
		run_dk $words
		[[ $status == 0 && $output =~ ^Docker\ version\ [0-9]+\.[0-9]+\.[0-9]+[^\ ]*,\ build\ [^\ ]+$ ]] || fail "$words: $output"
	done
	run_apart "$BRIG_DOCKER" --version foo --bar
	assert_equal "$status|${stderr%%$'\n'*}" "125|unknown flag: --bar"
	# Each word behind the last one that is known.
	for words in foo 'foo bar' 'run | foo' 'run | foo bar' 'container | foo' 'container run | a b' 'container run | rm' 'help | help'; do
		# shellcheck disable=SC2086
		run_apart "$BRIG_DOCKER" help ${words/|/}
		assert_equal "$status|$stderr" "1|unknown help topic: ${words#*| }"
	done
}

@test "errors of the client alone: before it looks for anything, and with Docker's codes" {
	local line
	while read -r line; do
		# shellcheck disable=SC2086
		run_apart "$BRIG_DOCKER" ${line%% => *}
		assert_equal "$status $stderr" "${line#* => }"
	done <<-'END'
		run -d -a stdout nosuch => 1 conflicting options: cannot specify both --attach and --detach
		exec --env-file nofile x y => 1 open nofile: no such file or directory
		version -f {{ => 64 template parsing error: template: version:1: unclosed action
		pull -a x:1 => 1 tag can't be used with --all-tags/-a
		pull -aq x@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 => 1 tag can't be used with --all-tags/-a
		pull -a UP => 1 invalid reference format: repository name (library/UP) must be lowercase
		cp :x y => 1 must specify at least one container source
		tag UP x => 1 Error parsing reference: "UP" is not a valid repository/tag: invalid reference format: repository name (library/UP) must be lowercase
		volume create --name aa bb => 1 conflicting options: cannot specify a volume-name through both --name and as a positional arg
		network create --gateway 10.0.0.1 n => 1 every ip-range or gateway must have a corresponding subnet
		network create --subnet 10.0.0.0/8 --gateway 11.0.0.1 n => 1 no matching subnet for gateway 11.0.0.1
		network create --subnet 10.0.0.0/8 --ip-range 11.0.0.0/16 n => 1 no matching subnet for range 11.0.0.0/16
	END
}

@test "inspect shows --mount with all its options, capabilities by their full names, and annotations" {
	dk create --name cc --mount type=tmpfs,dst=/t,tmpfs-size=1m,tmpfs-mode=1770 --cap-drop all --cap-add chown \
		--mount type=bind,src=/tmp,dst=/b,ro,bind-propagation=rprivate,bind-recursive=readonly,consistency=cached \
		--mount type=volume,dst=/v,volume-nocopy,volume-label=a=b,volume-driver=local --annotation k=v host true >/dev/null
	run_dk inspect -f '{{json .HostConfig.Mounts}} {{.HostConfig.CapAdd}} {{.HostConfig.CapDrop}} {{.HostConfig.Annotations}}' cc
	assert_equal "$output" '[{"Type":"tmpfs","Target":"/t","TmpfsOptions":{"SizeBytes":1048576,"Mode":1016}},'\
'{"Type":"bind","Source":"/tmp","Target":"/b","ReadOnly":true,"Consistency":"cached","BindOptions":{"Propagation":"rprivate","ReadOnlyForceRecursive":true}},'\
'{"Type":"volume","Target":"/v","VolumeOptions":{"NoCopy":true,"Labels":{"a":"b"},"DriverConfig":{"Name":"local"}}}]'\
' [CAP_CHOWN] [ALL] map[k:v]'
	dk rm -v cc
}

@test "completion offers every flag that --help shows" {
	local command
	"$BRIG_DOCKER" completion bash >"$T/completion"
	bash -n "$T/completion"
	for command in run "container ls" "network create" inspect rmi; do
		# shellcheck disable=SC2086
		flags_of $command >"$T/want"
		echo --help >>"$T/want"
		sort -u -o "$T/want" "$T/want"
		# shellcheck disable=SC2016
		bash -c 'source "$1"; shift; COMP_WORDS=("$@" --); COMP_CWORD=$#; _docker; printf "%s\n" "${COMPREPLY[@]}"' - \
			"$T/completion" "$BRIG_DOCKER" $command | sort -u >"$T/have"
		diff "$T/want" "$T/have"
	done
	run_dk completion fish
	[[ $output == *"complete -c docker -n '__fish_seen_subcommand_from run' -l memory -s m -r -d "* ]] || fail "no fish"
	run_dk completion zsh
	[[ $output == '#compdef docker brig-docker'* ]] || fail "no zsh"
	run_dk completion tcsh
	assert_status 1
}

@test "the manual page is roff without complaints and names every command" {
	local command
	"$BRIG_DOCKER" __manual >"$T/page.1"
	[ -z "$(groff -man -ww -z -Tutf8 "$T/page.1" 2>&1)" ]
	groff -man -Tascii "$T/page.1" 2>/dev/null | sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' >"$T/text"
	for command in $("$BRIG_DOCKER" --help | sed -n '/^Common Commands/,/^Management/s/^  \([a-z]*\) .*/\1/p'); do
		grep -q "^ *docker $command" "$T/text" || fail "$command"
	done
	grep -q 'FLAGS WITHOUT EFFECT' "$T/text"
}

@test "every command that a caller of Docker uses is there, with all its names" {
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # several words
		[[ $(dk $words --help) == *"Usage:  docker $words"* ]] || fail "no docker $words"
	done <<'END'
run
exec
inspect
ps
rm
stop
kill
create
start
logs
wait
images
info
version
network create
network rm
network ls
network inspect
cp
pull
load
save
import
tag
rmi
history
commit
port
top
stats
pause
unpause
rename
restart
events
volume create
volume inspect
volume ls
volume rm
volume prune
network connect
network disconnect
network prune
attach
diff
export
update
system info
system df
system prune
system events
container prune
image prune
context ls
context inspect
build
login
logout
push
container attach
container commit
container cp
container create
container diff
container exec
container export
container inspect
container kill
container logs
container ls
container pause
container port
container rename
container restart
container rm
container run
container start
container stats
container stop
container top
container unpause
container update
container wait
image build
image history
image import
image inspect
image load
image ls
image pull
image push
image rm
image save
image tag
END
}
