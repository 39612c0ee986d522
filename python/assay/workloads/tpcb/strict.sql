-- strict: the teller says which branch; most accounts are of that branch, some of another
\set tid random(1, 10 * :scale)
\set bid (:tid - 1) / 10 + 1
\set delta random(-999999, 999999)
\if :scale = 1 or random(1, 100) <= 85
\set account_branch :bid
\else
-- One of the others, each as likely: the last stands in for the teller's own.
\set account_branch random(1, greatest(1, :scale - 1))
\if :account_branch = :bid
\set account_branch :scale
\endif
\endif
\set aid (:account_branch - 1) * 100000 + random(1, 100000)
begin;
update accounts set abalance = abalance + :delta where aid = :aid;
select abalance from accounts where aid = :aid;
\expect rows 1
update tellers set tbalance = tbalance + :delta where tid = :tid;
update branches set bbalance = bbalance + :delta where bid = :bid;
insert into history (tid, bid, aid, delta, mtime, filler)
values (:tid, :bid, :aid, :delta, current_timestamp, 'abcdefghijklmnopqrstuvwxyz01');
commit;
