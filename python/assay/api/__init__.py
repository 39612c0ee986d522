"""Assay for Python programs: `assay.run`, `assay.open`, and the values they give."""
