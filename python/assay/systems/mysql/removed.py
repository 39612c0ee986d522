"""Settings that MySQL no longer has: what to ask for in their place."""

from __future__ import annotations

from assay.systems.mysql_protocol.names import plain_name

_REDO_LOG = "innodb_redo_log_capacity is the size of the whole redo log"
_NO_CACHE = "leave it out: the server keeps no results of queries"
_ISOLATION = "transaction_isolation is its name"
_READ_ONLY = "transaction_read_only is its name"
_ALWAYS = "leave it out: the server does what it decided in one way only"

_GONE = {
    "query_cache_type": _NO_CACHE,
    "query_cache_size": _NO_CACHE,
    "query_cache_limit": _NO_CACHE,
    "tx_isolation": _ISOLATION,
    "tx_read_only": _READ_ONLY,
    "innodb_file_format": _ALWAYS,
    "innodb_large_prefix": _ALWAYS,
    "innodb_checksums": "innodb_checksum_algorithm is what chooses",
    "innodb_undo_logs": "innodb_rollback_segments is its name",
    "innodb_log_file_size": _REDO_LOG,
    "innodb_log_files_in_group": _REDO_LOG,
    "default_authentication_plugin": "authentication_policy is what chooses",
    "expire_logs_days": "binlog_expire_logs_seconds is what chooses",
}


def why_it_is_gone(name: str) -> str | None:
    """A sentence that ends with what to do; None for a setting that we know nothing of. To be asked
    only where a server does not have it."""
    found = _GONE.get(plain_name(name))
    return None if found is None else f"MySQL no longer has {plain_name(name)}: {found}"
