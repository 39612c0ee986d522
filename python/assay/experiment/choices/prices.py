"""Takes prices as written, of storages ``ssd=0.60EUR/GB`` and of whole systems ``SYSTEM=4500EUR``;
returns them by the names of the storages and the labels of the systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.contracts.experiment import StorageChoice, StoragePrice, SystemChoice, SystemPrice
from assay.errors import ArgumentError
from assay.experiment.choices.checked_choices import split
from assay.text.phrases import Mention, did_you_mean, phrase
from assay.text.quantities import PRICE_PER_GB, SYSTEM_PRICE, Real, shown

FORM = phrase(
    "{--price STORAGE=0.60/GB}, with a currency STORAGE=0.60EUR/GB, or of a whole system "
    "SYSTEM=4500EUR"
)
_CURRENCY = r"[^\W\d_]{1,12}|[$€£¥₹]"
_OF_SYSTEM = rf"(?P<number>[^\s/]*?)\s*(?P<currency>{_CURRENCY})?"
_OF_STORAGE = rf"{_OF_SYSTEM}\s*/\s*GB"
"""Compiled when a price is given."""


class Prices(NamedTuple):
    of_storages: dict[str, StoragePrice]
    of_systems: dict[str, SystemPrice]


def of_words(
    words: Iterable[str], storages: Sequence[StorageChoice], systems: Sequence[SystemChoice]
) -> Prices:
    """The prices of words of ``--price``, each a list separated by commas. Raises `ArgumentError`
    for a storage or system that is not used, a second price of one, and what is no price."""
    found = Prices({}, {})
    for word in [one for list_ in words for one in split(list_)]:
        name, equals, text = (part.strip() for part in word.rpartition("="))
        if not equals or not name:
            raise ArgumentError(phrase("{}: expected {}", Mention("price", word), FORM))
        if "/" in text:
            storage = _storage(name, storages, systems)
            _refuse_second(storage, found.of_storages)
            found.of_storages[storage] = StoragePrice(
                *_price(word, text, _OF_STORAGE, PRICE_PER_GB)
            )
        else:
            system = _system(name, word, storages, systems)
            _refuse_second(system, found.of_systems)
            found.of_systems[system] = SystemPrice(*_price(word, text, _OF_SYSTEM, SYSTEM_PRICE))
    return found


def currency(word: str) -> str:
    """The word, where it can be a currency; raises `ArgumentError`."""
    if word and not re.fullmatch(_CURRENCY, word):
        raise ArgumentError(
            f"expected a currency as one word or sign, found {shown(word)}", hint="EUR, or $"
        )
    return word


def refuse_several_currencies(prices: Mapping[str, StoragePrice | SystemPrice]) -> None:
    """Raises `ArgumentError`: prices are divided by each other."""
    by_currency = {price.currency: name for name, price in prices.items()}
    if len(by_currency) > 1:
        said = " and ".join(
            f"{name} in {one or 'no currency'}" for one, name in by_currency.items()
        )
        raise ArgumentError(
            f"prices are compared, and need one currency: {said}", hint="give all prices in one"
        )


def _refuse_second(name: str, priced: Mapping[str, object]) -> None:
    if name in priced:
        raise ArgumentError(phrase("{--price}: {} has two prices", name), hint="give one of them")


def _storage(name: str, storages: Sequence[StorageChoice], systems: Sequence[SystemChoice]) -> str:
    found = _storages_called(name, storages)
    if len(found) == 1:
        return found[0]
    if not found and _systems_called(name, systems):
        raise ArgumentError(
            phrase("{--price}: {} is a system, not a storage", shown(name)),
            hint=phrase("its price is that of the whole: {}", Mention("price", f"{name}=4500EUR")),
        )
    raise _not_one(name, "storage", bool(found), [storage.name for storage in storages])


def _system(
    name: str, word: str, storages: Sequence[StorageChoice], systems: Sequence[SystemChoice]
) -> str:
    found = _systems_called(name, systems)
    if len(found) == 1:
        return found[0]
    if not found and _storages_called(name, storages):
        raise ArgumentError(phrase("{}: expected {}", Mention("price", word), FORM))
    raise _not_one(name, "system", bool(found), [system.label for system in systems])


def _not_one(name: str, what: str, are_several: bool, names: Sequence[str]) -> ArgumentError:
    said = f"several {what}s" if are_several else f"not a {what} of this experiment"
    return ArgumentError(
        phrase("{--price}: {} is ", shown(name)) + said, hint=did_you_mean(name, names)
    )


def _storages_called(name: str, storages: Sequence[StorageChoice]) -> list[str]:
    """The storage of this name, with or without the note behind it; or those of a kind."""
    for storage in storages:
        if name in (storage.name, storage.name.rpartition(" (")[0]):
            return [storage.name]
    return [storage.name for storage in storages if storage.kind == name]


def _systems_called(name: str, systems: Sequence[SystemChoice]) -> list[str]:
    """The label of the system that has it; or of those that have this name beside their storage, or
    are of this system or are called so."""
    for is_meant in (
        lambda system: name == system.label,
        lambda system: name == system.label_on_storage,
        lambda system: name in system.names,
    ):
        if found := list(dict.fromkeys(one.label for one in systems if is_meant(one))):
            return found
    return []


def _price(word: str, text: str, form: str, quantity: Real) -> tuple[float, str]:
    found = re.fullmatch(form, text, re.IGNORECASE)
    if found is None or not any(found.groups()):
        raise ArgumentError(phrase("{}: expected {}", Mention("price", word), FORM))
    try:
        # A word alone is read as a currency, and stands where the number should.
        amount = quantity.of_word(found["number"] or found["currency"])
    except ValueError as error:
        raise ArgumentError(phrase("{}: {}", Mention("price", word), error), hint=FORM) from None
    return amount, found["currency"] or ""
