-- o_mode_10k_relation: 100 tuples into a relation
create table result_10k as select * from hundred where col_key <= 100;
