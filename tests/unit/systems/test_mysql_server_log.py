"""Why the data directory of a server could not be made: what the script says before its advice."""

from __future__ import annotations

from pathlib import Path

from assay.systems.mysql_protocol import server

SAID = """\
/usr/bin/mariadb-install-db: 603: cannot create /dev/null: Permission denied

Installation of system tables failed!  Examine the logs in
/data for more information.

Please check all of the above before submitting a bug report
at https://mariadb.org/jira
"""


def test_the_reason_stands_before_the_advice(tmp_path: Path) -> None:
    log = tmp_path / "install.log"
    log.write_text(SAID, encoding="utf-8")
    assert server._last_words(log) == SAID.partition("\n")[0]
    log.write_text("2026 0 [ERROR] unknown option '--x'\n" + SAID, encoding="utf-8")
    assert server._last_words(log) == "unknown option '--x'"
