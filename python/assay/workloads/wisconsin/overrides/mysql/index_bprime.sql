-- InnoDB clusters by the primary key
-- index_bprime: on the key, by which the table is clustered, and on another attribute
alter table bprime add primary key (unique2);
create unique index bprime_unique1 on bprime (unique1);
