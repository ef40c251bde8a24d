# places: root
# brigd's WebSockets: snippets, sessions, terminals.
load ../lib/common
load ../lib/sandbox
load ../lib/brigd

@test "brigd: code over a WebSocket, its output as it comes, its files" {
	brigd_check brigd-websocket
}

@test "brigd: sessions, an interpreter that stays and a shell on a terminal" {
	brigd_check brigd-session
}
