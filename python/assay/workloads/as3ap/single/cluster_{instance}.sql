-- cluster_{instance}: nothing, where the load has made the clustered index or the system has none
\set clustered 0
{order_rows({instance}, {instance}_pkey)}
