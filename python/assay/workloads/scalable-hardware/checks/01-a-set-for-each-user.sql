-- 01-a-set-for-each-user: no more users than sets of tuples; --set users=N makes more
select users_found
from (select count(*) / :tuples as users_found from updates) found
where users_found < :clients;
