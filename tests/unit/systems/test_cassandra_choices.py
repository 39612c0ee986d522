"""Choices of a private Cassandra: the heap of its nodes, and what is refused before a start."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from assay.contracts.experiment import SystemChoice
from assay.contracts.factors import ServerMachine
from assay.errors import ArgumentError
from assay.systems.cassandra import CASSANDRA, system
from assay.systems.cassandra.settings import is_in_effect


@pytest.mark.parametrize(
    ("options", "limit_mb", "expected"),
    [
        ({}, None, 512),
        ({}, 768, 512),
        ({}, 640, 384),
        ({}, 512, 256),
        ({"nodes": "3"}, 2048, 426),
        ({"buffer": "64MB"}, 640, 288),
        ({"heap": "300MB"}, 600, 300),
        ({}, 511, "limit of 511MB is too little: a node needs 512MB, of which 256MB are its heap"),
        ({"heap": "512MB"}, 640, "a node needs 768MB, of which 512MB are its heap"),
        ({"nodes": "2"}, 1000, "each of 2 nodes needs 512MB"),
    ],
)
def test_the_heap_fits_into_the_memory_limit(
    options: Mapping[str, str], limit_mb: int | None, expected: int | str
) -> None:
    machine = ServerMachine(memory_bytes=None if limit_mb is None else limit_mb << 20)
    choice = SystemChoice("cassandra", options=options, machine=machine)
    if isinstance(expected, str):
        with pytest.raises(ArgumentError, match=expected):
            CASSANDRA.check(choice)
    else:
        cache_bytes = system._cache_bytes(choice)
        assert system._heap_bytes(choice, cache_bytes) == expected << 20


@pytest.mark.parametrize(
    ("options", "settings", "expected"),
    [
        ({"replication": "3"}, {}, "replication=3 needs as many nodes, found nodes=1"),
        ({"heap": "16MB"}, {}, "heap=16MB: expected at least 256MB"),
        ({}, {"num_tokens": "16"}, "the setting num_tokens of a private server"),
        ({"buffer": "64MB"}, {"file_cache_size": "1MiB"}, "are one and the same"),
        ({}, {"Memtable": "x"}, "expected the name of a setting of cassandra.yaml"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    options: Mapping[str, str], settings: Mapping[str, str], expected: str
) -> None:
    with pytest.raises(ArgumentError, match=expected):
        CASSANDRA.check(SystemChoice("cassandra", options=options, settings=settings))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("cassandra://u:secret@h/", "names no keyspace"),
        ("cassandra://u:secret@h:0/k", "port=0 in the URL"),
        ("cassandra://u:secret@h/k?tls=on", "tls=on in the URL: expected one of off, require"),
    ],
)
def test_a_url_that_cannot_be_right_is_refused(url: str, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected) as refusal:
        CASSANDRA.check_url(url)
    assert "secret" not in f"{refusal.value.message} {refusal.value.hint}"


@pytest.mark.parametrize(
    ("asked", "found", "is_same"),
    [
        ("10s", "10000ms", True),
        ("1024KiB", "1MiB", True),
        ("64MiB/s", "64MiB/s", True),
        ("Batch", "batch", True),
        ("yes", "true", True),
        ("null", "None", True),
        ("8", "32", False),
        ("10s", "10ms", False),
        ("1MiB", "1s", False),
    ],
)
def test_a_setting_is_compared_by_what_it_means(asked: str, found: str, is_same: bool) -> None:
    assert is_in_effect(asked, found) is is_same
