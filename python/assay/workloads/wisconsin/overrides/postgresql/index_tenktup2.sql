-- PostgreSQL orders a table by an index in a step of its own
-- index_tenktup2: on the key, by which the table is ordered, and on another attribute
create unique index tenktup2_unique2 on tenktup2 (unique2);
cluster tenktup2 using tenktup2_unique2;
create unique index tenktup2_unique1 on tenktup2 (unique1);
