-- index_tenktup2: on the key (clustered, where the system has such), and on another attribute
{clustering_index(tenktup2_unique2, tenktup2, unique2)};
create unique index tenktup2_unique1 on tenktup2 (unique1);
