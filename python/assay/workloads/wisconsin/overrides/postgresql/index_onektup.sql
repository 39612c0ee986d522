-- PostgreSQL orders a table by an index in a step of its own
-- index_onektup: on the key, by which the table is ordered, and on another attribute
create unique index onektup_unique2 on onektup (unique2);
cluster onektup using onektup_unique2;
create unique index onektup_unique1 on onektup (unique1);
