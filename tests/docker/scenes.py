# SPDX-License-Identifier: Apache-2.0
"""What the recorded commands need around them.

A scene is a list of sections that were recorded on one state. It gets data and run roots of its
own, in which the image `pysand` is, and a running container `zeroth-sandbox`. EXTRA has what
belongs to one record: commands before it, its stdin, its environment.
"""

SLEEP = "docker run -d --name %s --network none pysand sleep 300"
EXITED = "docker run --name brigrec-x --network none pysand sh -c 'exit 3'"
FILES = ("mkdir -p ws box home; chown 1000:1000 ws; chmod 777 ws;"
         " echo 'print(input())' > box/main.py")
VOL = "mkdir -p vol; echo data > vol/f"

# name: sections, commands before, {placeholder: container whose id it is}
SCENES = {
    "global": (["A", "B", "B2", "B3"], "", {}),
    "signals": (["B4"], "", {}),
    "process": (["C1", "C2"], VOL, {}),
    "flags": (["C3"], VOL, {}),
    "exec": (["D1", "D2"], "\n".join([
        VOL,
        "docker run -d --name brigrec-a --network none -e FOO=bar pysand sleep 300",
        EXITED,
        "docker run -d --name brigrec-i --network none -v $PWD/vol:/m:ro --tmpfs /t -e A=1 -e B=2"
        " -p 127.0.0.1:18081:80 --label a.b/c=val --label x --entrypoint sleep pysand 300",
    ]), {"ID9": "brigrec-a", "ID10": "brigrec-x", "ID12": "brigrec-i"}),
    "lifecycle": (["E", "F"], "\n".join([
        "docker run -d --name brigrec-a --network none -l app=t -l com.x=1 pysand sleep 301",
        "docker run -d --name brigrec-ab --network none -l app=u pysand"
        " sh -c 'echo a long command line with several words; sleep 302'",
        EXITED,
        SLEEP % "brigrec-p",
        "docker pause brigrec-p",
        "docker create --name brigrec-cr --network none pysand true",
    ]), {"ID18": "brigrec-a", "ID19": "brigrec-ab", "ID21": "brigrec-p", "ID22": "brigrec-x"}),
    "cp": (["G"], "\n".join([
        "mkdir -p src/sub dst; echo one > src/f; chmod 750 src/f; ln -s f src/lnk; echo g > src/sub/g",
        SLEEP % "brigrec-a", EXITED,
    ]), {}),
    "images": (["H"], EXITED, {}),
    "networks": (["I"], SLEEP % "brigrec-a", {"ID28": "brigrec-a"}),
    "events": (["J"], "\n".join([SLEEP % "brigrec-a", EXITED]), {}),
    "limits": (["K"], "mkdir -p zeroth-sandbox-abc/job", {}),
    "ports": (["L"], "docker network create brigrec-n1; docker network create brigrec-n2", {}),
    "clients": (["M"], FILES, {}),
    "callers": (["N"], FILES, {}),
}

EXTRA = {
    "B2-12": {"before": "docker run --name brigrec-c --network none pysand nosuchcmd"},
    "B2-17": {"before": "docker run -dit --name brigrec-e --network none pysand sleep 300"},
    "B3-03": {"stdin": "line1\nline2 no newline"},
    "B3-04": {"stdin": "".join(map(chr, range(256)))},
    "B3-12": {"pty": ("0 0", "abc\n")},
    "B3-13": {"pty": ("not a tty", "abc\n")},
    "C1-02": {"env": {"HOSTVAR": "from host"}},
    "C1-14": {"env": {"HOSTVAR": "h"}},
    "D1-18": {"env": {"HOSTV": "h"}},
    "D1-26": {"stdin": 'echo "$1-$2"; exit 4\n'},
    "D1-04": {"replace": ("e1b", "ID9", 3)},
    "D2-81": {"replace": ("e1b35", "ID9", 5)},
    "E-41": {"replace": ("c33371", "ID18", 6)},
    "F-18": {"before": "docker rm -f brigrec-lg; docker run --name brigrec-lg --network none pysand"
                       " sh -c 'echo o; echo e >&2; printf nonl'"},
    # The program must have come to its trap.
    "F-30": {"edit": ("; time", "; sleep 1; time")},
    "F-56": {"before": "docker start brigrec-a"},
    "F-57": {"before": "docker pause brigrec-p"},
    "F-63": {"before": "docker create --name brigrec-z --network none pysand true"},
    "H-48": {"stdin": "secret"},
    "I-29": {"before": "docker volume create --label a=b brigrec-v2; docker volume create brigrec-v3"},
    "K-52": {"stdin": "input"},
    "L-12": {"bind": {"ID43": ("docker network inspect -f '{{.Id}}' brigrec-n1", None)}},
    "M-06": {"stdin": "hello\n"},
}
