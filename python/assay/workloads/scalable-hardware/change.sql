-- change: an attribute of one tuple of the user's own set, by a random key; a flush
\set first (:client_id % :users) * :tuples
\set key :first + random(0, :tuples - 1)
update updates set col_signed = col_signed + 1 where col_key = :key;
\expect rows 1
