"""Settings that servers no longer have: since which version, and what to ask for in their place."""

from __future__ import annotations

_REMOVED = {
    "checkpoint_segments": ("9.5", "max_wal_size"),
    "default_with_oids": ("12", None),
    "wal_keep_segments": ("13", "wal_keep_size"),
    "vacuum_cleanup_index_scale_factor": ("14", None),
    "operator_precedence_warning": ("14", None),
    "stats_temp_directory": ("15", None),
    "force_parallel_mode": ("16", "debug_parallel_query"),
    "vacuum_defer_cleanup_age": ("16", None),
    "promote_trigger_file": ("16", None),
    "old_snapshot_threshold": ("17", None),
    "trace_recovery_messages": ("17", None),
    "db_user_namespace": ("17", None),
}


def why_it_is_gone(name: str, major_version: int) -> str | None:
    """A sentence that ends with the fix; None for a setting that such a server has, or that is
    unknown."""
    found = _REMOVED.get(name.lower())
    if found is None or float(found[0]) > major_version:
        return None
    version, instead = found
    fix = f"ask for {instead}" if instead else "leave it out"
    return f"{name} was removed in PostgreSQL {version} (this is {major_version}): {fix}"
