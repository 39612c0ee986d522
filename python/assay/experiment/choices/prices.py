"""Takes prices of storages as written, ``ssd=0.60EUR/GB``; returns them by the names of the
storages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from assay.contracts.experiment import StorageChoice, StoragePrice
from assay.errors import ArgumentError
from assay.experiment.choices.checked_choices import split
from assay.text.mentions import Mention, phrase
from assay.text.nearest import did_you_mean
from assay.text.quantities import PRICE_PER_GB, shown

FORM = phrase("{--price STORAGE=0.60/GB}, or with a currency STORAGE=0.60EUR/GB")
_CURRENCY = re.compile(r"[^\W\d_]{1,12}|[$€£¥₹]")
_PRICE = re.compile(
    rf"(?P<number>[^\s/]*?)\s*(?P<currency>{_CURRENCY.pattern})?\s*/\s*GB", re.IGNORECASE
)


def of_words(words: Iterable[str], storages: Sequence[StorageChoice]) -> dict[str, StoragePrice]:
    """The prices of words of ``--price``, each a list separated by commas. Raises `ArgumentError`
    for a storage that is not used, a second price of one, and what is no price."""
    found: dict[str, StoragePrice] = {}
    for word in [one for list_ in words for one in split(list_)]:
        name, equals, text = (part.strip() for part in word.rpartition("="))
        if not equals or not name:
            raise ArgumentError(phrase("{}: expected {}", Mention("price", word), FORM))
        storage = _named(name, storages)
        if storage in found:
            raise ArgumentError(
                phrase("{--price}: {} has two prices", storage), hint="give one of them"
            )
        found[storage] = _price(word, text)
    return found


def currency(word: str) -> str:
    """The word, where it can be a currency; raises `ArgumentError`."""
    if word and not _CURRENCY.fullmatch(word):
        raise ArgumentError(
            f"expected a currency as one word or sign, found {shown(word)}", hint="EUR, or $"
        )
    return word


def refuse_several_currencies(prices: Mapping[str, StoragePrice]) -> None:
    """Raises `ArgumentError`: prices are divided by each other."""
    by_currency = {price.currency: name for name, price in prices.items()}
    if len(by_currency) > 1:
        said = " and ".join(
            f"{name} in {one or 'no currency'}" for one, name in by_currency.items()
        )
        raise ArgumentError(
            f"prices are compared, and need one currency: {said}", hint="give all prices in one"
        )


def _named(name: str, storages: Sequence[StorageChoice]) -> str:
    """The storage of this name, with or without the note behind it; or the only one of a kind."""
    for storage in storages:
        if name in (storage.name, storage.name.rpartition(" (")[0]):
            return storage.name
    of_kind = [storage.name for storage in storages if storage.kind == name]
    if len(of_kind) == 1:
        return of_kind[0]
    names = [storage.name for storage in storages]
    raise ArgumentError(
        phrase("{--price}: {} is ", shown(name))
        + ("several storages" if of_kind else "not a storage of this experiment"),
        hint=did_you_mean(name, names),
    )


def _price(word: str, text: str) -> StoragePrice:
    found = _PRICE.fullmatch(text)
    if found is None or not any(found.groups()):
        raise ArgumentError(phrase("{}: expected {}", Mention("price", word), FORM))
    try:
        # A word alone before /GB is read as a currency, and stands where the number should.
        per_gb = PRICE_PER_GB.of_word(found["number"] or found["currency"])
    except ValueError as error:
        raise ArgumentError(phrase("{}: {}", Mention("price", word), error), hint=FORM) from None
    return StoragePrice(per_gb, found["currency"] or "")
