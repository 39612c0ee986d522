"""MariaDB behind the protocol of every system under test, and how it is installed."""

from __future__ import annotations

from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.contracts.systems.abilities import FoundPrograms
from assay.systems.mariadb import installation
from assay.systems.mariadb.product import MariadbProduct
from assay.systems.mysql_protocol.system import ProductSystem


class Mariadb(ProductSystem):
    installable_version = "11.8"
    installable_releases = tuple(installation.RELEASES)
    install_source = (
        "apt brings packages of the Debian release that has the version (11.8, 10.11), about 30 MB "
        "to download and 250 MB on disk; they run beside any release"
    )
    install_bytes = 700 << 20

    def find_in(self, folder: Path) -> FoundPrograms:
        return self.find_at(str(installation.base_in(folder)))

    def install(self, version: str, prefix: Prefix, report: Report) -> None:
        installation.install(version, prefix, report)


MARIADB = Mariadb(MariadbProduct())
