-- count: all jobs
select count(*) as jobs from jobs;
