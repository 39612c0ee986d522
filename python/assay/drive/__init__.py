"""Takes a loaded site and a planned run; hands the workload to the engine; gives an
`Observation`.
"""
