-- drop_updates_keys: the secondary indexes of updates are removed
drop index updates_int;
drop index updates_double;
drop index updates_decim;
drop index updates_code;
