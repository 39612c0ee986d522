-- page: one task of the last 14 days, its jobs by state, and its first 100 jobs
\set task 1 + :old_tasks + (hash(:transaction_number, 1995) & 9223372036854775807) % :window_tasks
select t.user_id, u.name as user_name, t.name as task, t.type, t.n_jobs, t.created, t.updated, t.tool, t.dataset
from tasks t
join users u on u.user_id = t.user_id
where t.task_id = :task;
\expect rows 1
select s.name as state, count(*) as jobs
from jobs j
join states s on s.state_id = j.state_id
where j.task_id = :task
group by s.name;
select j.job_index, s.name as state, i.name as site, j.submit_time, j.start_time, j.end_time, j.exit_code, j.retries
from jobs j
join states s on s.state_id = j.state_id
join sites i on i.site_id = j.site_id
where j.task_id = :task and j.job_index < 100
order by j.job_index;
