-- index_bprime: on the key (clustered, where the system has such), and on another attribute
{clustering_index(bprime_unique2, bprime, unique2)};
create unique index bprime_unique1 on bprime (unique1);
