-- jobs_per_task: tasks whose number of jobs is not the one they say
select t.task_id, t.n_jobs, count(j.job_id) as counted
from tasks t left join jobs j on j.task_id = t.task_id
group by t.task_id, t.n_jobs
having count(j.job_id) <> t.n_jobs;
