-- look-up: one tuple of the user's own set, by a random key; a round trip
\set first (:client_id % :users) * :tuples
\set key :first + random(0, :tuples - 1)
select col_key, col_code, col_date, col_signed, col_name from updates where col_key = :key;
\expect rows 1
