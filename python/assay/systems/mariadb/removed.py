"""Settings that servers no longer have: since which version, and what to ask for in their place."""

from __future__ import annotations

from assay.systems.mysql_protocol.names import plain_name

_REDO_LOG = "the redo log is one file, and innodb_log_file_size is its size"
_SCHEDULES_ITSELF = "leave it out: the server has no limit of threads inside InnoDB"
_ALWAYS = "leave it out: the server does what it decided in one way only"

_SINCE_10_6 = {
    "innodb_log_files_in_group": _REDO_LOG,
    "innodb_buffer_pool_instances": "leave it out: the buffer pool is one",
    "innodb_page_cleaners": "leave it out: one thread writes pages back",
    "innodb_thread_concurrency": _SCHEDULES_ITSELF,
    "innodb_commit_concurrency": _SCHEDULES_ITSELF,
    "innodb_concurrency_tickets": _SCHEDULES_ITSELF,
    "innodb_thread_sleep_delay": _SCHEDULES_ITSELF,
    "innodb_adaptive_max_sleep_delay": _SCHEDULES_ITSELF,
    "innodb_checksums": "innodb_checksum_algorithm is what chooses",
    "innodb_log_checksums": _ALWAYS,
    "innodb_undo_logs": _ALWAYS,
    "innodb_rollback_segments": _ALWAYS,
    "innodb_file_format": _ALWAYS,
    "innodb_large_prefix": _ALWAYS,
    "innodb_log_compressed_pages": _ALWAYS,
    "innodb_log_optimize_ddl": _ALWAYS,
    "innodb_scrub_log": _ALWAYS,
    "innodb_idle_flush_pct": _ALWAYS,
    "innodb_replication_delay": _ALWAYS,
}


def why_it_is_gone(name: str) -> str | None:
    """A sentence that ends with what to do; None for a setting that we know nothing of. To be asked
    only where a server does not have it."""
    fix = _SINCE_10_6.get(plain_name(name))
    return None if fix is None else f"{plain_name(name)} was removed in MariaDB 10.6: {fix}"
