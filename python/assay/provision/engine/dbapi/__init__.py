"""Python's DB-API 2.0 (PEP 249) for the engine: connects to a module, and says what its exceptions
mean. It imports nothing else of Assay, so that a worker process is small.
"""
