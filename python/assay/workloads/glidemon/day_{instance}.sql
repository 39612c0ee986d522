-- day_{instance}: analysis jobs of the last {instance} days by user and state
\set since timestamp(:end - {instance} * 86400)
select u.name as user_name, s.name as state, count(*) as jobs
from jobs j
join tasks t on t.task_id = j.task_id
join users u on u.user_id = t.user_id
join states s on s.state_id = j.state_id
where t.type = 'analysis' and j.last_update >= :since
group by u.name, s.name;
