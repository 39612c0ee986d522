-- simple_report: level 2
\begin repeatable read
select avg(updates.col_decim) from updates
where updates.col_key in
  (select updates.col_key from updates, hundred
   where hundred.col_key = updates.col_key and updates.col_decim > 980000000);
\expect value case when :whole_grid then :report_average else NULL end
\commit
