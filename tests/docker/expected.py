# SPDX-License-Identifier: Apache-2.0
"""Turns a recorded text into a pattern for what the same command prints here and now.

What differs from run to run (ids, times, sizes, process ids, ports that the system chose,
addresses, the machine's names) becomes a pattern; all else must be equal byte for byte. An id has a
name in the records (<ID3>, and id12_0000003 for its first twelve digits): it is bound to the first
text that stands in its place, and must be the same from then on.
"""
import re

MARKS = {
    "<HELP-RUN>": "\n\nRun 'docker run --help' for more information\n",
    "<USAGE-RUN>": "\n\nUsage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]\n\n"
                   "Run 'docker run --help' for more information\n",
    "<OCI-CREATE>": "failed to create shim task: OCI runtime create failed: runc create failed: "
                    "unable to start container process: ",
    "<OCI-EXEC>": "OCI runtime exec failed: exec failed: unable to start container process: ",
    # Said by the recording machine only, which forwarded no packets.
    "<WARN-IPV4>": "",
    "\nIPv4 forwarding is disabled. Networking will not work.\n": "\n",
    " ---> [Warning] IPv4 forwarding is disabled. Networking will not work.\n": "",
}
SPAN = r"(?:\d+ (?:seconds?|minutes?|hours?)|About (?:a minute|an hour)|Less than a second)"
NUMBER = r"\d+(?:\.\d+)?"
SIZE = NUMBER + "[kMG]?i?B"
ADDRESS = r"\d+\.\d+\.\d+\.\d+"
RFC3339 = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"

# (what stands in the record, pattern of what may stand there now)
VARIABLE = [
    (r"<HEX64>", "[0-9a-f]{64}"),
    (r"hex12_other_", "[0-9a-f]{12}"),
    (r"<RFC3339NANO>", RFC3339 + r"(?:\.\d{0,8}[1-9])?Z"),
    (r"<RFC3339>", RFC3339 + r"(?:Z|[+-]\d\d:\d\d)"),
    (r"<YYYY-MM-DD HH:MM:SS \+0000 UTC>", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC"),
    (r"<YYYY-MM-DD HH:MM:SS\.NANO \+0000 UTC>",
     r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})? \+0000 UTC"),
    (r"<HOSTDEV> (\S+) \w+ (r[ow]),relatime,discard,\.\.\.", r"\S+ \1 \w+ \2,[^ ]+"),
    (r"<HOSTDEV>", r"\S+"),
    (r"<(?:REGISTRY|RESOLVER|L|DAEMON-ID|SOCK|DOCS-URL)>", r"\S+"),
    (r"<N>", r"\d+"),
    (SPAN, SPAN),
    (r"\b201(?:\.2)?MB", SIZE),
    (r"Nov 29 \d\d:\d\d", r"\w{3} [ \d]\d \d\d:\d\d"),
    (r"pipe:\[\d+\]", r"pipe:\[\d+\]"),
    (r"bash: line 1: +\d+ Killed", r"bash: line 1: +\d+ Killed"),
    (r"\b(real|user|sys) \d+\.\d\d", r"\1 \d+\.\d\d"),
    (r'"time":\d+,"timeNano":\d+', r'"time":\d+,"timeNano":\d+'),
    (r"\b172\.17\.0\.0/16", ADDRESS + r"/\d+"),
    (r"\b172\.17\.0\.\d+", ADDRESS),
    (r"02:42:ac:11:00:02", r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}"),
    (r"\b3276\d\b", r"\d+"),
    (r"word_word", r"[a-z]+_[a-z]+\d*"),
    (r"endpoint [a-z]+_[a-z]+ ", r"endpoint [a-z]+_[a-z]+\d* "),
]
UNESCAPED = re.compile(r"(?<!\\)\((?!\?)")
ID = re.compile(r"<(ID|IMG)(\d+)>|(id|im)12_(\d{7})")


def expand(text):
    for mark, value in MARKS.items():
        text = text.replace(mark, value)
    return text


class Names:
    """The texts that <IDn>, <IMGn> and the machine's names stand for in one scene."""

    def __init__(self, places):
        self.places = places  # {"<DIR>": ..., }
        self.ids = {}

    def fill(self, text):
        """A command with the names it mentions."""
        def value(m):
            name = m.group(1) + m.group(2) if m.group(1) else key12(m)
            full = self.ids.get(name, "f" * 64)
            return full if m.group(1) else full[:12]
        return ID.sub(value, text)

    def pattern(self, text, vary=()):
        """The regular expression for TEXT, its groups named by the ids that are not bound yet."""
        table = list(vary) + VARIABLE
        keys = [key for key, _ in table] + [re.escape(p) for p in self.places] + [ID.pattern]
        token = re.compile("|".join("(?:%s)" % UNESCAPED.sub("(?:", key) for key in keys))
        out, at, seen = [], 0, set()
        for m in token.finditer(text):
            out.append(gaps(text[at:m.start()], text))
            out.append(self.one(m.group(), table, seen))
            at = m.end()
        out.append(gaps(text[at:], text))
        return "".join(out)

    def one(self, word, table, seen):
        if word in self.places:
            return re.escape(self.places[word])
        m = ID.fullmatch(word)
        if m:
            return self.id_pattern(m, seen)
        for key, value in table:
            m = re.fullmatch(key, word)
            if m:
                for n, group in enumerate(m.groups(), 1):
                    value = value.replace("\\%d" % n, group)
                return "(?:%s)" % value
        raise AssertionError(word)

    def id_pattern(self, m, seen):
        name = m.group(1) + m.group(2) if m.group(1) else key12(m)
        if name in self.ids:
            return re.escape(self.ids[name] if m.group(1) else self.ids[name][:12])
        if not m.group(1):
            return "[0-9a-f]{12}"
        if name in seen:
            return "(?P=%s)" % name
        seen.add(name)
        return "(?P<%s>[0-9a-f]{64})" % name

    def bind(self, match):
        self.ids.update((k, v) for k, v in match.groupdict().items() if v)


def key12(m):
    return {"id": "ID", "im": "IMG"}[m.group(3)] + str(int(m.group(4)))


def gaps(literal, whole):
    """In a table with times or sizes in it the widths of the columns vary (see `aligned`)."""
    if not re.search(SPAN + r"|201(?:\.2)?MB", whole):
        return re.escape(literal)
    return re.sub(r"(?:\\ ){2,}", " {2,}", re.escape(literal))


def aligned(text):
    """Whether TEXT, if it is a table as docker prints them, has the columns where they belong."""
    lines = [line for line in text.split("\n")[:-1] if not line.startswith("{")]
    if len(lines) < 2 or not re.match(r"[A-Z][A-Z ]+ {3}[A-Z]", lines[0]):
        return True
    starts = [m.start() for m in re.finditer(r"(?:^|(?<= {3}))\S", lines[0])]
    starts += [None]
    rows = [[line[a:b] for a, b in zip(starts, starts[1:])] for line in lines]
    # Ten columns at least (`top`: 20) with three blanks between, as Go's tabwriter was told.
    least = 20 if rows[0][0].rstrip() in ("UID", "PID") else 10
    for column in list(zip(*rows))[:-1]:
        width = max(least, max(len(cell.rstrip()) for cell in column) + 3)
        if any(len(cell) != width for cell in column):
            return False
    return True
