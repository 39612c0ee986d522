"""Whatever a BibTeX file contains, `bibtosql` ends within 10 seconds, takes less than 1 GB of
memory, and reports what is wrong with the file, with its place: never a traceback, never "internal
error". A script that is written is complete; after an error there is none. The same holds for
`assay run bibsql`, except that a run still working after 2 seconds is terminated (exit status 143):
it then has 10 seconds to end and to leave nothing behind.

Tried with parts of real bibliographies whose bytes are changed: single bytes, whole regions, other
encodings and line ends, parts repeated a hundred thousand times. The real ones are the 13 of
`assay install beebe`, where they are on this machine; else the sample of the engine's own tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random

from assay import _engine  # noqa: F401
from assay.cli.bibsql import options
from assay.load.bibsql import beebe
from assay.provision.engine import engine_calls  # noqa: F401
from assay.workload import reader
from proofs._case import Case
from proofs._proof import Found
from proofs._try import try_all

CASES = 10_000
SHORT = 16

_SAMPLE = Path(__file__).parents[1] / "crates" / "bibtex" / "tests" / "data" / "sample.bib"
_MEANINGFUL = b"@{}()\"#,=%\\ \n\r\t~'aA1-\xc3\xa9\xff\x01\x00\xef\xbb\xbf"
_MOST_BYTES = 100_000
_REPEATED = 100_000
_WORDS = (
    b"@", b"@Article{", b"@string{a = ", b"@comment{", b"@preamble{", b"\n@Book{k,", b"\n  @Misc(",
    b"}", b"{", b"{{", b"}}", b'"', b"# a ", b", a = 1", b'month = "10~" # jan,\n', b"month = 7,\n",
    b'pages = "1--10, 20--25",\n', b"author = {A and B and others},\n", b" and ", b"\\", b"\\verb|",
    b"\\noopsort{", b"\\textquoteleft ", b"{\\'", b"\0", b"\xff", b"\xed\xa0\x80", b"\r", b"\r\n",
    b"%", b"1", b"--", b" + ", b"iv", b"bibdate = {Fri Mar 4 17:53:38 MST 2011},\n", b"'", b";\n",
    b"\n.quit\n", b"\n\\q\n", b"\ndelimiter x\n", b"@" * 60, b"x" * 5000, b"\xe2\x80\x93",
)  # fmt: skip
_SERVERS = ("sqlite", "postgresql", "mysql")


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Tries this many damaged bibliographies."""
    # Imported once here: a case is a fork of this process.
    reader.read("bibsql")
    options.servers()
    return try_all(_cases(first, cases, seed), timeout_s, first=first)


def _cases(first: int, cases: int, seed: int) -> Iterator[Case]:
    for number in range(first, first + cases):
        random = Random(f"bibliographies/{seed}/{number}")
        files = {f"{name}.bib": _damaged(random) for name in random.choice(("x", "x", "x", "xy"))}
        if random.random() < 0.02:
            words = ["run", "bibsql", "--on", "sqlite", "--repetitions", "1"]
            for file in files:
                words += ["--bib", file]
            words += _some(random, ["--keep-going"])
            yield Case("assay", words, files, may_go_on=True)
            continue
        words = ["--server", random.choice(_SERVERS)]
        words += _some(random, ["--keep-going"], ["--strict"], ["--create"])
        words += _some(random, ["--encoding", "latin-1"], chance=0.2)
        words += _some(random, ["--replicas", "3"], chance=0.1)
        words += _some(random, ["--output", "x.sql"], chance=0.1)
        yield Case("bibtosql", [*words, *files], files, judge=partial(_judge, words))


def _some(random: Random, *words: Sequence[str], chance: float = 0.5) -> list[str]:
    return [word for one in words if random.random() < chance for word in one]


def _judge(words: Sequence[str], status: int, folder: Path) -> list[str]:
    """What is wrong with the SQL script of a case."""
    is_file = "--output" in words
    file = folder / "work" / "x.sql" if is_file else folder / "stdout"
    script = file.read_bytes() if file.exists() else b""
    if status == 0:
        is_whole = b"\nCOMMIT;\n" in script and b"\nROLLBACK;\n" not in script
        return [] if is_whole else ["the script has no COMMIT"]
    return ["a script was written in spite of the error"] if script else []


def _damaged(random: Random) -> bytes:
    text = _part(random)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 8))):
        text = random.choices(_DAMAGES, _CHANCES)[0](random, text)
    return text[: 4 * _MOST_BYTES + 10 * _REPEATED]


def _part(random: Random) -> bytes:
    """Part of a real file, rarely all of it; half of the parts begin at an entry."""
    text = random.choice(_real())
    length = int(_MOST_BYTES ** random.uniform(0.3, 1))
    start = random.randrange(len(text))
    if random.random() < 0.5:
        start = max(text.rfind(b"\n@", 0, start), 0)
    end = text.find(b"\n@", start + length) if random.random() < 0.7 else start + length
    return text[start : end if end > 0 else start + length]


@cache
def _real() -> list[bytes]:
    folder = beebe.default_folder()
    files = sorted(beebe.manifest().files) if beebe.is_there(folder) else []
    return [(folder / name).read_bytes() for name in files] or [_SAMPLE.read_bytes()]


def _bytes(random: Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(random.choice((1, 1, 5, 50))):
        at = random.randrange(len(changed) + 1)
        changed[at : at + random.choice((0, 1))] = bytes([random.choice(_MEANINGFUL)])
    return bytes(changed)


def _word(random: Random, text: bytes) -> bytes:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_WORDS) + text[at:]


def _repeated(random: Random, text: bytes) -> bytes:
    at = random.randrange(len(text) + 1)
    word = random.choice(_WORDS) + random.choice((b"", b"", random.choice(_WORDS)))
    times = random.choice((10, 1000, _REPEATED))
    return text[:at] + (word * times)[: 10 * _REPEATED] + text[at:]


def _without(random: Random, text: bytes) -> bytes:
    start = random.randrange(len(text) + 1)
    return text[:start] + text[start + random.choice((1, 10, 100, 10_000)) :]


def _doubled(random: Random, text: bytes) -> bytes:
    start, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
    at = random.randrange(len(text) + 1)
    return text[:at] + text[start:end] + text[at:]


def _exchanged(random: Random, text: bytes) -> bytes:
    old, new = random.sample((b"{", b"}", b'"', b"(", b")", b",", b"=", b"\n", b"@", b" "), 2)
    return text.replace(old, new, random.choice((1, 1, 100, -1)))


def _line_ends(random: Random, text: bytes) -> bytes:
    return text.replace(b"\n", random.choice((b"\r\n", b"\r", b" ", b"\n\n", b"\n    ", b"\0")))


def _encoded(random: Random, text: bytes) -> bytes:
    encoding = random.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp037"))
    return text.decode("utf-8", "replace").encode(encoding, "replace")


def _random(random: Random, text: bytes) -> bytes:
    start = random.randrange(len(text) + 1)
    return text[:start] + random.randbytes(random.choice((1, 100, 10_000))) + text[start:]


_DAMAGES: tuple[Callable[[Random, bytes], bytes], ...] = (
    _bytes, _word, _repeated, _without, _doubled, _exchanged, _line_ends, _encoded, _random,
)  # fmt: skip
_CHANCES = (10, 10, 4, 6, 3, 3, 2, 1, 1)
