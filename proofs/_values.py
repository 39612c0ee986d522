"""Values to try: valid and invalid ones for each option."""

from __future__ import annotations

NUMBERS = (
    "nan", "-nan", "inf", "-inf", "infinity", "1e308", "1e309", "-1e308", "1e-300", "1e-9",
    "1e5000",
    "4294967295", "4294967296", "2147483648", "9223372036854775807", "9223372036854775808",
    "18446744073709551615", "18446744073709551616", "100000000000000000000000", "-1", "-0", "0",
    "0.0", "1", "01", "1.5", "1_000", "1,000", "+1", "1e3", "0x10", "1 2", " 1 ", "",
    "\u0661\u0662", "\u00b2", "\uff11", "1\u00a0000", "9" * 400, "1" * 5000, "0." + "0" * 400 + "1",
    "1,nan", "1,,2", ",", ",".join(["1"] * 2000), "1;2", "1-8", "1..8", "0,1", "8,8",
)  # fmt: skip

TEXTS = (
    "", " ", "\t", "\n", "\r\n", "x", "X" * 5000, "'", '"', "\\", "`", "a,b", "a=b", "=", "==", "[",
    "]", "[]", "[[", "sqlite[", "sqlite]", "null[delay=", "null[delay=constant:nan]", "%s%n", "{0}",
    "${HOME}", "$(id)", "../../etc/passwd", "\u202egnp.exe", "\U0001f4a5", "e\u0301", "\ufeffx",
    "\x1b[31mred", "\x07", "\x7f", "\udcff\udcfe", "a\udc80b", "None", "true", "null", "NULL",
    "://", "sqlite://", "null://", "null://x?delay=constant:1ms", "x://y", "postgresql://[::1",
    "postgresql://a:b@c:99999/d", "mysql://h:port/d", "sqlite:///missing/x.db", "-x", "--help",
    "--no-such", "@", "x@y@z", "*", "?", "constant:1s", "constant:1e308s", "uniform:3s..1s",
    "exponential:nan", "exponential:-1s", "lognormal:1s,1e308", "zipfian:1", "1.4s@5s", "1e308s@1s",
    "deadlock@#0", "nothing@#1", "#0", "#-1", "#99999999999999999999", "0.001", "2.0", "1/2", "0/0",
    "2/1", "1/0", "1/18446744073709551616", "-1/2", "1/2/3", "read committed", "utf-8", "utf8",
)  # fmt: skip

WIDTHS = ("1", "0", "-1", "abc", "20", "1000000", "", "80", "3", "99999999999999999999", "1e3")

PLAUSIBLE = {
    # by the option's name
    "on": (
        "sqlite", "null", "sqlite,null", "null[delay=constant:1ms]", "null[rows=5,seed=7]",
        "sqlite[buffer=1MB]", "null[fail=deadlock@0.1]", "null[stall=1ms@#10]", "sqlite,sqlite",
        "sqlite:///here.db", "null://", "null[protocol=postgresql]",
    ),
    "storage": ("here", "here:folder", "x=here:folder", "here:missing", "tmpfs", "here,x=here"),
    "set": (
        "scale=1", "scale=1,2", "id=5", "sqlite.buffer=1MB", "sqlite.cache_size=100",
        "sqlite.busy_timeout_s=nan", "scale=nan", "scale=99999999999", "x=1", "scale=1e308",
    ),
    "settings": ("scale=1", "scale=2", "fillfactor=100", "scale=0", "scale=nan"),
    "script": ("script.sql", "script.sql@2"),
    "bib": ("small.bib", "folder"),
    "feed": ("script.sql", "small.bib"),
    "table": ("pgbench_tellers", "pgbench_branches", "pgbench_accounts"),
    "dialect": ("sqlite", "null"),
    "part": ("1/2", "2/2", "1/1000000000"),
    "words": ("none",),
    "target": ("tpcb.tpcb", "script.sql", "script.sql@2", "experiment.toml", "tpcb.*", "bibsql"),
    "run": ("latest", "1", "run 1"),
    "server": ("sqlite", "psql", "mysql"),
    "database": ("bibtex", "my db"),
    "replicas": ("1", "3"),
    "seed": ("1", "7"),
    "encoding": ("utf-8", "latin-1"),
    "output": ("out.sql", "small.bib"),
    "option": ("engine=InnoDB",),
    "unix": ("socket",),
    "host": ("127.0.0.1", "localhost", "::1"),
    "port": ("0",),
    "delay": ("constant:1ms",),
    "stall": ("1.4s@5s",),
    "fail": ("deadlock@#10",),
    "lose": ("#100",),
    # by the name of its value
    "N": ("1", "2", "3"),
    "S": ("0.05", "0.1"),
    "MS": ("1", "0", "5.5"),
    "N,…": ("1", "1,2"),
    "R,…": ("100", "100,200"),
    "D": ("none", "exponential:1ms", "constant:1ms", "uniform:1ms..2ms"),
    "PATH": ("records.sqlite",),
    "FOLDER": ("folder",),
    "FILE": ("out",),
    "WHAT": ("1",),
}  # fmt: skip
