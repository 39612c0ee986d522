-- InnoDB clusters by the primary key
-- index_tenktup1: on the key, by which the table is clustered, and on another attribute
alter table tenktup1 add primary key (unique2);
create unique index tenktup1_unique1 on tenktup1 (unique1);
