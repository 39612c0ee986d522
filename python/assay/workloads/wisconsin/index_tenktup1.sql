-- index_tenktup1: on the key (clustered, where the system has such), and on another attribute
{clustering_index(tenktup1_unique2, tenktup1, unique2)};
create unique index tenktup1_unique1 on tenktup1 (unique1);
