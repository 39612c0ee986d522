-- drop_updates_keys: the secondary indexes of updates are removed
drop index updates_int {of_table(updates)};
drop index updates_double {of_table(updates)};
drop index updates_decim {of_table(updates)};
drop index updates_code {of_table(updates)};
