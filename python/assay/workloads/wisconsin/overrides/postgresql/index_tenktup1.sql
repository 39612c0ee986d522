-- PostgreSQL orders a table by an index in a step of its own
-- index_tenktup1: on the key, by which the table is ordered, and on another attribute
create unique index tenktup1_unique2 on tenktup1 (unique2);
cluster tenktup1 using tenktup1_unique2;
create unique index tenktup1_unique1 on tenktup1 (unique1);
