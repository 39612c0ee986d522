-- tasks: the active tasks of a user, each with its jobs by state
\set user 1 + (hash(:transaction_number, 2013) & 9223372036854775807) % :active_users
\set since timestamp(:window_start)
select t.task_id, t.name as task, t.created, s.name as state, count(*) as jobs
from tasks t
join jobs j on j.task_id = t.task_id
join states s on s.state_id = j.state_id
where t.user_id = :user and t.updated >= :since
group by t.task_id, t.name, t.created, s.name;
