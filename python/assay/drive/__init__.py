"""Takes a loaded deployment and a planned run; passes the workload to the engine; returns an
`Observation`.
"""
