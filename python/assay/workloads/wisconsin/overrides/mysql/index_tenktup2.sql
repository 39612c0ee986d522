-- InnoDB clusters by the primary key
-- index_tenktup2: on the key, by which the table is clustered, and on another attribute
alter table tenktup2 add primary key (unique2);
create unique index tenktup2_unique1 on tenktup2 (unique1);
