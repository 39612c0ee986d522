"""Long proofs: each module that has no leading underscore tries one promise many times.

Such a module opens with the promise, says in ``CASES`` how often a whole run tries it, and has
``prove(cases, seed, patience_s) -> Found``. ``make prove`` runs all of them and keeps what they
found in ``docs/proofs/``; ``make test`` runs a short case of each (`tests/proofs`).
"""
