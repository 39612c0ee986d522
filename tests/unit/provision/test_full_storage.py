"""When a run failed because its storage or shared memory is full, and when it is only nearly so."""

from __future__ import annotations

import pytest

from assay.errors import (
    FULL_DISK_HINT,
    FULL_SERVER_DISK_HINT,
    RESOURCES,
    SHARED_MEMORY,
    AssayError,
    RunFailed,
    SystemDied,
    SystemRefused,
    resources_hint,
)
from assay.provision.disk.full_storage import Space, name_full_storage

pytestmark = pytest.mark.slow

GB = 1 << 30


@pytest.mark.parametrize(
    ("error", "space", "is_named"),
    [
        (SystemDied("connection reset by peer"), Space(GB, GB // 200), True),
        (RunFailed("the server disconnected"), Space(GB, 4096), True),
        (SystemRefused("strange number 42"), Space(GB, GB // 2, has_free_files=False), True),
        (SystemRefused("strange number 42"), Space(GB, GB // 70), False),
        (SystemRefused("out", error_class=RESOURCES), Space(GB, GB // 70), True),
        (SystemRefused("No space left on device"), None, True),
        (SystemDied("connection reset by peer"), Space(1000 * GB, 5 * GB), False),
        (SystemDied("connection reset by peer"), None, False),
    ],
)
def test_a_full_storage_is_named(error: AssayError, space: Space | None, is_named: bool) -> None:
    assert name_full_storage(error, "small", space) is is_named
    assert error.message.startswith("no space left on storage small: ") is is_named
    if is_named and space is not None:
        assert "it has 1.07 GB" in str(error.hint)


def test_what_to_do_depends_on_whose_storage_it_is() -> None:
    for is_by_url, hint in ((False, FULL_DISK_HINT), (True, FULL_SERVER_DISK_HINT)):
        error = SystemRefused("No space left on device")
        assert name_full_storage(error, "small", Space(GB, 0), is_by_url=is_by_url)
        assert error.hint == f"{hint} (it has 1.07 GB)"


def test_full_shared_memory_is_not_a_full_storage() -> None:
    words = 'could not resize shared memory segment "/PostgreSQL.1" to 1048576 bytes: '
    error = SystemRefused(words + "No space left on device", error_class=RESOURCES)
    assert not name_full_storage(error, "small", Space(GB, GB // 2))
    assert error.message.startswith(f"no space left in {SHARED_MEMORY}, which has ")
    assert "--shm-size" in str(error.hint)
    assert resources_hint(error.message) == error.hint


def test_a_limit_of_file_sizes_is_no_matter_of_clients() -> None:
    hint = resources_hint('could not extend file "base/5/16389": File too large')
    assert "ulimit -f" in hint
    assert "clients" not in hint
