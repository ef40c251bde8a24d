#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/docker/record.py --docker PROGRAM --engine HOST FILE SECTION

Runs the shell lines of FILE (separated by lines of `--`) with a real docker in the scene of SECTION,
and prints them as records with what they answered. What varies gets the marks of expected.py.
"""
import json
import re
import sys

sys.dont_write_bytecode = True
import expected  # noqa: E402
import records  # noqa: E402

NAMED = [
    (expected.RFC3339 + r"\.\d+Z", "<RFC3339NANO>"),
    (r"\b[0-9a-f]{64}\b", "<HEX64>"),
    (r"\b[0-9a-f]{12}\b", "hex12_other_"),
]


def marked(text, places):
    for mark, value in sorted(places.items(), key=lambda item: -len(item[1])):
        text = text.replace(value, mark)
    for mark, value in expected.MARKS.items():
        if value and mark.startswith("<"):
            text = text.replace(value, mark)
    for pattern, mark in NAMED:
        text = re.sub(pattern, mark, text)
    return text


def main():
    path, section = sys.argv[-2:]
    options = records.parse(sys.argv[1:-2])
    with open(path, encoding="utf-8") as file:
        lines = file.read().strip().split("\n--\n")
    wanted = [{"id": "%s-%02d" % (section, n), "run": line} for n, line in enumerate(lines, 1)]

    def answer(scene, record, _):
        code, out, err = scene.shell(record["run"])
        places = {k: v for k, v in scene.names.places.items() if k in ("<DIR>", "<ROOT>")}
        record["rc"] = code
        for key, text in (("out", marked(out, places)), ("err", marked(err, places))):
            if text:
                record[key] = text

    records.in_scenes(options, {section: wanted}, answer)
    print("[\n%s\n]" % ",\n".join(json.dumps(r, ensure_ascii=False) for r in wanted))


if __name__ == "__main__":
    main()
