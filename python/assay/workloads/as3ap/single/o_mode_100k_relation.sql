-- o_mode_100k_relation: 1000 tuples into a relation
create table result_100k as select * from hundred where col_key <= 1000;
