-- o_mode_1k_relation: 10 tuples into a relation
create table result_1k as select * from updates where col_key <= 10;
