-- times: jobs whose times are not in their order, or beyond those of their task
select j.job_id, t.created, j.submit_time, j.start_time, j.end_time, j.last_update, t.updated as task_update
from jobs j join tasks t on t.task_id = j.task_id
where j.submit_time < t.created or j.start_time < j.submit_time or j.end_time < j.start_time
  or j.last_update < j.submit_time or j.last_update > t.updated;
