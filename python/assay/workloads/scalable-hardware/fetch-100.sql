-- fetch-100: a hundred whole tuples of the user's own set go to the client; the network
\set first (:client_id % :users) * :tuples
\set from :first + random(0, :tuples - 100)
\set until :from + 99
select * from updates where col_key between :from and :until;
\expect rows 100
