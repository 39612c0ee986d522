"""Four load generators do what one process does: with the same seed their clients send the same
transactions, each with the same values, and as many of each type end ok; and the distribution that
is merged of theirs is, bucket for bucket, the one of all their transactions.

Each case draws the number of clients, scripts with weights, an order, a closed or an open loop with
constant or random gaps, and a count of transactions, and drives the document twice on the null
system: in this process, and by four processes of this machine behind their channels. Every
transaction writes its type and the value that it drew into a file. Latencies of a third document,
whose generators keep every transaction in a log, are counted again one by one.
"""

from __future__ import annotations

import base64
import struct
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from msgspec import structs

from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import ArrivalDocument, DriveDocument, LogDocument, StopDocument
from assay.contracts.observation import Observation
from assay.contracts.observation.transactions import encoded, merged_latency
from assay.contracts.storage_facts import StorageFacts
from assay.drive.observe import Generators, observe
from assay.provision.engine.engine_programs import LocalFleet
from proofs._proof import Found

CASES = 100
SHORT = 2

_GENERATORS = 4
_TRANSACTIONS = (8, 40)


def prove(cases: int, seed: int, timeout_s: float, first: int = 0) -> Found:
    """Drives so many documents twice."""
    del timeout_s  # counts end each case
    outcomes: Counter[str] = Counter()
    faults = []
    for number in range(first, first + cases):
        with tempfile.TemporaryDirectory() as folder:
            kind, wrong = _case(Random(f"{seed} {number}"), Path(folder))
        outcomes[f"{kind}: {'different' if wrong else 'the same'}"] += 1
        if wrong:
            command = f"python -m proofs fleet --cases 1 --first {number} --seed {seed}"
            faults.append(f"{command}\n{wrong}")
    return Found(cases, outcomes, faults)


def _case(random: Random, folder: Path) -> tuple[str, str]:
    document = _drawn(random)
    kind = "closed loop" if not document.arrival else f"{document.arrival.kind} arrivals"
    alone, values = _driven(document, folder / "alone", None)
    fleet = Generators(LocalFleet(_GENERATORS))
    together, their_values = _driven(document, folder / "fleet", fleet)
    wrong = [
        f"{name}: expected {expected}, found {found}"
        for name, expected, found in (
            ("transactions and values", values, their_values),
            ("outcomes", alone.outcomes, together.outcomes),
            ("outcomes by type", _by_type(alone), _by_type(together)),
            ("clients", _ends(alone), _ends(together)),
            ("generators", _GENERATORS, len(together.generators)),
            ("their ok", alone.outcomes.ok, sum(one.ok for one in together.generators)),
            *_histograms(document, folder / "log.csv"),
        )
        if expected != found
    ]
    return kind, "\n".join(wrong)


def _drawn(random: Random) -> DriveDocument:
    clients = random.randint(_GENERATORS, 11)
    names = ["a", "b", "c"][: random.randint(1, 3)]
    arrival: Any = structs.replace(ArrivalDocument(kind="closed"))
    is_open = random.random() < 2 / 3
    if is_open:
        kind = random.choice(["constant", "poisson"])
        arrival = ArrivalDocument(kind=kind, offered_rate_per_s=random.choice([200.0, 400.0]))
    most = max(1, random.randint(*_TRANSACTIONS) // clients)
    document = DriveDocument(
        scripts=tuple(
            ScriptDocument(name=name, path=name, text="", weight=random.randint(1, 5))
            for name in names
        ),
        order=random.choice(["mix", "deck", "sequence"]) if not is_open else "mix",
        clients=clients,
        stop=StopDocument(transactions=most),
        seed=random.getrandbits(63),
        allow_shell=True,
    )
    return structs.replace(document, arrival=arrival) if is_open else document


def _driven(
    document: DriveDocument, file: Path, generators: Generators | None
) -> tuple[Observation, Counter[str]]:
    """The observation, and what each transaction wrote."""
    scripts = tuple(
        structs.replace(
            script,
            text="\\set v random(1, 1000000000)\n"
            f"\\shell sh -c 'echo $* >>{file}' values {script.name} :v\nSELECT :v;\n",
        )
        for script in document.scripts
    )
    found = observe(
        _null(file.parent), structs.replace(document, scripts=scripts), generators=generators
    )
    return found, Counter(file.read_text(encoding="utf-8").splitlines())


def _histograms(document: DriveDocument, file: Path) -> Sequence[tuple[str, object, object]]:
    """Merged of four generators, and made of the latencies of their log."""
    scripts = tuple(structs.replace(one, text="SELECT 1;\n") for one in document.scripts)
    logged = structs.replace(
        document, scripts=scripts, log=LogDocument(path=str(file), run=1, sample=1.0)
    )
    file.touch()
    found = observe(_null(file.parent), logged, generators=Generators(LocalFleet(_GENERATORS)))
    lines = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines()]
    latencies_ns = [int(line[-2]) for line in lines if line[-1] == "ok"]
    latency = found.all_ok.latency
    counted = (len(latencies_ns), min(latencies_ns), max(latencies_ns), sum(latencies_ns))
    merged = (latency.count, latency.min_ns, latency.max_ns, latency.sum_ns)
    seconds = [one.latency for one in found.intervals if one.latency is not None]
    return (
        ("latencies of the log", counted, merged),
        ("buckets", _buckets_of(latencies_ns), _buckets_in(latency.histogram)),
        ("seconds", encoded(merged_latency(seconds)), encoded(latency)),
    )


_HALF_BITS = 10
"""Of a histogram of three significant digits in nanoseconds: 1,024 buckets for each power of two,
as HdrHistogram has them."""


def _buckets_of(values: Sequence[int]) -> dict[int, int]:
    """The count of each bucket, from single values."""

    def bucket(value: int) -> int:
        shift = max(0, value.bit_length() - _HALF_BITS - 1)
        return (shift << _HALF_BITS) + (value >> shift)

    return dict(sorted(Counter(map(bucket, values)).items()))


def _buckets_in(histogram: str) -> dict[int, int]:
    """The same of an encoded one (HdrHistogram, V2, compressed)."""
    plain = zlib.decompress(base64.b64decode(histogram)[8:])
    digits, lowest_ns = struct.unpack(">iq", plain[12:24])
    assert (digits, lowest_ns) == (3, 1)
    found, at, numbers = {}, 0, iter(plain[40:])
    for byte in numbers:
        number, shift = byte & 0x7F, 7
        while byte & 0x80:
            byte = next(numbers)
            number |= (byte if shift == 56 else byte & 0x7F) << shift
            shift += 7
            if shift > 56:
                break
        count = (number >> 1) ^ -(number & 1)
        if count > 0:
            found[at] = count
        at += max(1, -count)  # a negative one is so many empty buckets
    return found


def _by_type(observation: Observation) -> dict[str, int]:
    return {one.name: one.ok for one in observation.outcomes_by_transaction}


def _ends(observation: Observation) -> list[int]:
    return sorted(end.client for end in observation.client_ends)


def _null(folder: Path) -> Deployment:
    address = Address(driver="null", options={"rows": "1", "deployment": str(folder)})
    return Deployment(
        system="null",
        label="null",
        nodes=(Node("null", StorageFacts("here", "here", str(folder))),),
        endpoints=(address,),
        version="",
        options={},
        settings_asked={},
        settings={},
    )
