-- failures: failed jobs of the last 14 days by exit code
\set since timestamp(:window_start)
select j.exit_code, count(*) as jobs, count(distinct j.task_id) as tasks, count(distinct j.site_id) as sites
from jobs j
where j.state_id = 6 and j.last_update >= :since
group by j.exit_code;
