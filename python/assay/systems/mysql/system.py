"""MySQL behind the protocol of every system under test, and how it is installed."""

from __future__ import annotations

from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.contracts.systems.abilities import FoundPrograms
from assay.systems.mysql import installation
from assay.systems.mysql.product import MysqlProduct
from assay.systems.mysql_protocol.system import ProductSystem
from assay.systems.program_version import version_of


class Mysql(ProductSystem):
    installable_version = "9"
    installable_releases = ("9",)
    install_source = (
        "apt brings packages of Debian sid, 56 MB to download and 350 MB on disk; they run beside "
        "any release"
    )
    install_bytes = 700 << 20

    def find_in(self, folder: Path) -> FoundPrograms:
        return FoundPrograms(version_of(installation.server_in(folder)), str(folder / "usr"))

    def install(self, version: str, prefix: Prefix, report: Report) -> None:
        installation.install(version, prefix, report)


MYSQL = Mysql(MysqlProduct())
