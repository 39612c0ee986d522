-- cluster_uniques: nothing, where the load has made the clustered index or the system has none
\set clustered 0
{order_rows(uniques, uniques_pkey)}
