-- index_{instance}: on the key (clustered, where the system has such), and on another attribute
{clustering_index({instance}_unique2, {instance}, unique2)};
create unique index {instance}_unique1 on {instance} (unique1);
