-- index_onektup: on the key (clustered, where the system has such), and on another attribute
{clustering_index(onektup_unique2, onektup, unique2)};
create unique index onektup_unique1 on onektup (unique1);
