-- InnoDB clusters by the primary key
-- index_onektup: on the key, by which the table is clustered, and on another attribute
alter table onektup add primary key (unique2);
create unique index onektup_unique1 on onektup (unique1);
