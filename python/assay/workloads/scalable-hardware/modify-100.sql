-- modify-100: a hundred tuples of the user's own set are changed; the disk
\set first (:client_id % :users) * :tuples
\set from :first + random(0, :tuples - 100)
\set until :from + 99
update updates set col_int = col_int + 1 where col_key between :from and :until;
\expect rows 100
