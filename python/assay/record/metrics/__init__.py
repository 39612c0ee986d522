"""The one list of metrics: what is measured of a run, its clients, its cell or a transaction type.

Tables, columns, comparisons, conditions, trends, exports and the reference iterate over
`assay.record.metrics.catalogue.METRICS`. A metric is one entry there: of what clients did in
`clients.py`, of what they deferred in `deferred.py`, of what it cost in `costs.py`, of the data in
`stored.py`. None of these has a list of its own.
"""
