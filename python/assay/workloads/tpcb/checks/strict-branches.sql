-- strict-branches: the balance of each branch is that of its tellers and of its history
select branches.bid, branches.bbalance, of_tellers.total as tellers, of_history.total as history
from branches
join (select bid, sum(tbalance) as total from tellers group by bid) of_tellers
on of_tellers.bid = branches.bid
left join (select bid, sum(delta) as total from history group by bid) of_history
on of_history.bid = branches.bid
where branches.bbalance <> of_tellers.total
or branches.bbalance <> coalesce(of_history.total, 0);
