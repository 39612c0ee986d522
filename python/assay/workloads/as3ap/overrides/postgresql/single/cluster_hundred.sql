-- PostgreSQL orders a table by an index in a step of its own
-- cluster_hundred: nothing, where the load has made the clustered index or the system has none
cluster hundred using hundred_pkey;
