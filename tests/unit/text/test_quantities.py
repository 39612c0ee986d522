"""Numbers as people write them."""

from __future__ import annotations

import pytest

from assay.text.quantities import NUMBER


def test_a_number_of_any_use_is_read_and_a_longer_one_is_refused_before_it_is_looked_at() -> None:
    assert NUMBER.of_word("0." + "1" * 398) == pytest.approx(1 / 9)
    with pytest.raises(ValueError, match="expected"):
        NUMBER.of_word("0." + "1" * 399)
