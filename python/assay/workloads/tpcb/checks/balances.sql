-- balances: branches, tellers, accounts and the history's deltas have one sum
select branches.total as branches, tellers.total as tellers, accounts.total as accounts,
       history.total as history
from (select coalesce(sum(bbalance), 0) as total from pgbench_branches) branches,
     (select coalesce(sum(tbalance), 0) as total from pgbench_tellers) tellers,
     (select coalesce(sum(abalance), 0) as total from pgbench_accounts) accounts,
     (select coalesce(sum(delta), 0) as total from pgbench_history) history
where branches.total <> tellers.total
or tellers.total <> accounts.total
or accounts.total <> history.total;
