-- oltp_update: an attribute without an index of one tuple, by a random key
\set number random(0, :tuples - 1)
\set key case when :number = 0 then 0 else :number + 1 end
update updates set col_signed = col_signed + 1 where col_key = :key;
\expect rows 1
