-- ir_select: one tuple by a random key
\set number random(0, :tuples - 1)
\set key case when :number = 0 then 0 else :number + 1 end
select col_key, col_code, col_date, col_signed, col_name from updates where col_key = :key;
\expect rows 1
