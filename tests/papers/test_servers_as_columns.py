"""Two running servers, each on a storage that its URL names: two columns of a paper's table, and of
our own."""

from __future__ import annotations

import servers
from assay import registry
from assay.report.build import build
from commands import Assay

SYSTEM = registry.system("postgresql")


def test_servers_by_url_are_the_columns_of_their_storages(assay: Assay) -> None:
    tcp = {"transport": "tcp"}
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options=tcp) as first,
        servers.provisioned(SYSTEM, storage, options=tcp) as second,
    ):
        on = ",".join(
            f"{servers.url_of(SYSTEM, server)}[storage={name},role={role},rtt={rtt}]"
            for server, name, role, rtt in (
                (first, "hdd", "disk", "20ms"),
                (second, "ssd", "solid-state", "0"),
            )
        )
        ended = assay(
            "run", "cubrid-2010.toml", "--quick", "--only", "insert", "--repetitions", "1",
            "--transactions", "40", "--set", "tables=1", "--set", "rows=100", "--clients", "2",
            "--on", on,
        )  # fmt: skip
    assert ended.status == 0, ended.err
    assert [(run.system_label, run.storage) for run in ended.runs if run.state == "done"] == [
        ("postgresql", "hdd"), ("postgresql", "ssd"),
    ]  # fmt: skip
    assert first.address.password not in ended.out + ended.err
    sections = build(ended.experiment).sections
    tables = {table.name: table for part in sections for table in part.tables}
    own = tables["insert"]
    assert [column.title for column in own.columns] == ["system", "hdd", "ssd", "speed-up"]
    (row,) = own.rows
    hdd, ssd = (cell.number.value for cell in row.cells[1:3] if cell.number)
    assert hdd < ssd  # by the round-trip time
    paper = tables["insert_paper"]
    titles = [column.title for column in paper.columns]
    assert titles[-2:] == ["disk", "SSD"]
    (measured,) = (row for row in paper.rows if row.cells[1].shown.startswith("measured"))
    assert [cell.number.value for cell in measured.cells[-2:] if cell.number] == [hdd, ssd]
