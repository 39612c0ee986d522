-- PostgreSQL orders a table by an index in a step of its own
-- index_bprime: on the key, by which the table is ordered, and on another attribute
create unique index bprime_unique2 on bprime (unique2);
cluster bprime using bprime_unique2;
create unique index bprime_unique1 on bprime (unique1);
