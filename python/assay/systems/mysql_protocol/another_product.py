"""Takes what a server says that it is; refuses it where the URL names another product."""

from __future__ import annotations

from assay.contracts.experiment import SystemChoice
from assay.errors import SystemRefused
from assay.systems.mysql_protocol.product import Product

_PRODUCTS = {"MariaDB": "mariadb", "MySQL": "mysql"}
"""First word of the driver's version → scheme of URLs."""

_OF_NEITHER = "Assay-null"
"""In the version of our null server, which either scheme may lead to."""


def refuse_another_product(choice: SystemChoice, product: Product, version: str) -> None:
    """Raises `SystemRefused`: results must not be those of another product than they say."""
    found = version.partition(" ")[0]
    scheme = _PRODUCTS.get(found, product.name)
    if scheme != product.name and _OF_NEITHER not in version:
        raise SystemRefused(
            f"{choice.label}: expected {product.title}, found {version}",
            hint=f"the same URL with {scheme}://",
        )
