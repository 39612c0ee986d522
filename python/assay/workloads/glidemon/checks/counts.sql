-- counts: numbers of jobs, tasks and users that are not those of the paper, times the scale
\set window timestamp(:window_start)
\set last_day timestamp(:end - 86400)
select counted.jobs, counted.recent_jobs, counted.analysis, counted.newest, recent.tasks, recent.users
from (
  select count(*) as jobs,
    sum(case when j.last_update >= :window then 1 else 0 end) as recent_jobs,
    sum(case when j.last_update >= :window and t.type = 'analysis' then 1 else 0 end) as analysis,
    sum(case when j.last_update >= :last_day and t.type = 'analysis' then 1 else 0 end) as newest
  from jobs j join tasks t on t.task_id = j.task_id
) counted
cross join (select count(*) as tasks, count(distinct user_id) as users from tasks where updated >= :window) recent
where counted.jobs <> :old_jobs + :window_jobs or counted.recent_jobs <> :window_jobs
  or counted.analysis <> :analysis_jobs or counted.newest <> :last_day_jobs
  or recent.tasks <> :window_tasks or recent.users <> :active_users;
