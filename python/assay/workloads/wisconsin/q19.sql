-- q19: a projection to all tuples
create table tmp_q19 as select distinct two, four, ten, twenty, onepercent, tenpercent, twentypercent, fiftypercent, unique3,
evenonepercent, oddonepercent, stringu1, stringu2, string4 from tenktup1;
