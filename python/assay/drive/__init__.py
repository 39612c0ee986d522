"""Takes a loaded deployment and a planned run; hands the workload to the engine; returns an
`Observation`.
"""
