-- strict-balances: branches, tellers, accounts and the history's deltas have one sum
select branches.total as branches, tellers.total as tellers, accounts.total as accounts,
       history.total as history
from (select coalesce(sum(bbalance), 0) as total from branches) branches,
     (select coalesce(sum(tbalance), 0) as total from tellers) tellers,
     (select coalesce(sum(abalance), 0) as total from accounts) accounts,
     (select coalesce(sum(delta), 0) as total from history) history
where branches.total <> tellers.total
or tellers.total <> accounts.total
or accounts.total <> history.total;
