"""Long proofs: each module without a leading underscore tries one property many times.

It opens with the property, has in ``CASES`` the number of cases of a whole run, and ``prove(cases,
seed, timeout_s) -> Found``. ``make prove`` runs all of them and writes the results to
``docs/proofs/``; ``make test`` runs a short case of each (`tests/proofs`).
"""
