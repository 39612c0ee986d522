-- CUBRID, MySQL and MariaDB drop an index of a table
-- drop_updates_keys: the secondary indexes of updates are removed
drop index updates_int on updates;
drop index updates_double on updates;
drop index updates_decim on updates;
drop index updates_code on updates;
