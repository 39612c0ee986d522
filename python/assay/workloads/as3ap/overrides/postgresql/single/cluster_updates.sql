-- PostgreSQL orders a table by an index in a step of its own
-- cluster_updates: nothing, where the load has made the clustered index or the system has none
cluster updates using updates_pkey;
