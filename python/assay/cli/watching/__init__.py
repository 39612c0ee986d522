"""The server of ``assay watch``: a page of this machine that shows an experiment under way."""
