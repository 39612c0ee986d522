-- materialize: the summaries of jobs by task and by user
\begin
delete from task_summary;
insert into task_summary (task_id, state_id, jobs)
select task_id, state_id, count(*) from jobs group by task_id, state_id;
delete from user_summary;
insert into user_summary (user_id, state_id, jobs)
select t.user_id, s.state_id, sum(s.jobs)
from task_summary s
join tasks t on t.task_id = s.task_id
group by t.user_id, s.state_id;
select user_id, state_id, jobs from user_summary;
\commit
