-- o_mode_tiny_relation: 1 tuple into a relation
create table result_tiny as select * from tiny;
