-- accounts: accounts and the history's deltas have one sum
select accounts.total as accounts, history.total as history
from (select coalesce(sum(abalance), 0) as total from pgbench_accounts) accounts,
     (select coalesce(sum(delta), 0) as total from pgbench_history) history
where accounts.total <> history.total;
