"""Assay: which database, on which storage, with which settings, is fast enough for your work?"""

from importlib.metadata import version

__version__ = version("assay-db")
