-- results: the relations that queries have made have their tuples
select "query", "found"
from (select '01' as "query", count(*) as "found", :tuples / 100 as expected from tmp_q01
      union all select '02', count(*), :tuples / 10 from tmp_q02
      union all select '03', count(*), :tuples / 100 from tmp_q03
      union all select '04', count(*), :tuples / 10 from tmp_q04
      union all select '05', count(*), :tuples / 100 from tmp_q05
      union all select '06', count(*), :tuples / 10 from tmp_q06
      union all select '09', count(*), :tuples / 10 from tmp_q09
      union all select '10', count(*), :tuples / 10 from tmp_q10
      union all select '11', count(*), :tuples / 10 from tmp_q11
      union all select '12', count(*), :tuples / 10 from tmp_q12
      union all select '13', count(*), :tuples / 10 from tmp_q13
      union all select '14', count(*), :tuples / 10 from tmp_q14
      union all select '15', count(*), :tuples / 10 from tmp_q15
      union all select '16', count(*), :tuples / 10 from tmp_q16
      union all select '17', count(*), :tuples / 10 from tmp_q17
      union all select '18', count(*), 400 from tmp_q18
      union all select '19', count(*), :tuples from tmp_q19) counted
where "found" <> expected;
\expect rows 0
