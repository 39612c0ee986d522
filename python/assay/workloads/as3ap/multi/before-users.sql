-- Indexes, as the single-user tests leave them, and the relations of the cross section; not measured
create index tenpct_int on tenpct (col_int);
create index tenpct_signed on tenpct (col_signed);
create index tenpct_double on tenpct (col_double);
create index tenpct_float on tenpct (col_float);
create index tenpct_decim on tenpct (col_decim);
create index tenpct_name on tenpct {using_hash} (col_name);
create index tenpct_code on tenpct {using_hash} (col_code);
create index uniques_code on uniques {using_hash} (col_code);
create index hundred_code on hundred {using_hash} (col_code);
create index updates_code on updates {using_hash} (col_code);
create index updates_int on updates (col_int);
create table sel100seq as select * from updates where 1 = 0;
create table sel100rand as select * from updates where 1 = 0;
