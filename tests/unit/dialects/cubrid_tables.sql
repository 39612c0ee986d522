-- bibsql
DROP TABLE IF EXISTS bibtab;
CREATE TABLE bibtab (
  authorcount INT,
  editorcount INT,
  pagecount INT,
  bibtype STRING,
  filename STRING,
  label STRING,
  author STRING,
  editor STRING,
  booktitle STRING,
  title STRING,
  crossref STRING,
  chapter STRING,
  journal STRING,
  volume STRING,
  type STRING,
  number STRING,
  institution STRING,
  organization STRING,
  publisher STRING,
  school STRING,
  address STRING,
  edition STRING,
  pages STRING,
  "day" STRING,
  "month" STRING,
  monthnumber STRING,
  "year" STRING,
  CODEN STRING,
  DOI STRING,
  ISBN STRING,
  ISBN13 STRING,
  ISSN STRING,
  LCCN STRING,
  MRclass STRING,
  MRnumber STRING,
  MRreviewer STRING,
  bibdate STRING,
  bibsource STRING,
  bibtimestamp STRING,
  note STRING,
  series STRING,
  URL STRING,
  abstract STRING,
  keywords STRING,
  remark STRING,
  subject STRING,
  TOC STRING,
  ZMnumber STRING,
  entry STRING NOT NULL
);
CREATE INDEX bibtab_filename ON bibtab (filename);
CREATE INDEX bibtab_label ON bibtab (label);
CREATE INDEX bibtab_bibtype ON bibtab (bibtype);
CREATE INDEX bibtab_author ON bibtab (author);
CREATE INDEX bibtab_editor ON bibtab (editor);
CREATE INDEX bibtab_title ON bibtab (title);
CREATE INDEX bibtab_booktitle ON bibtab (booktitle);
CREATE INDEX bibtab_journal ON bibtab (journal);
CREATE INDEX bibtab_volume ON bibtab (volume);
CREATE INDEX bibtab_number ON bibtab (number);
CREATE INDEX bibtab_year ON bibtab ("year");
CREATE INDEX bibtab_month ON bibtab ("month");
CREATE INDEX bibtab_publisher ON bibtab (publisher);
CREATE INDEX bibtab_coden ON bibtab (CODEN);
CREATE INDEX bibtab_doi ON bibtab (DOI);
CREATE INDEX bibtab_isbn ON bibtab (ISBN);
CREATE INDEX bibtab_isbn13 ON bibtab (ISBN13);
CREATE INDEX bibtab_issn ON bibtab (ISSN);
CREATE INDEX bibtab_lccn ON bibtab (LCCN);
CREATE INDEX bibtab_bibdate ON bibtab (bibdate);
CREATE INDEX bibtab_bibtimestamp ON bibtab (bibtimestamp);
CREATE INDEX bibtab_keywords ON bibtab (keywords);
DROP TABLE IF EXISTS strtab;
CREATE TABLE strtab (
  "key" STRING,
  "value" STRING,
  entry STRING NOT NULL
);
DROP TABLE IF EXISTS namtab;
CREATE TABLE namtab (
  name STRING NOT NULL,
  "count" INT,
  UNIQUE (name)
);
-- e831
DROP TABLE IF EXISTS "data";
CREATE TABLE "data" (
  name CHAR(16) NOT NULL,
  start INT NOT NULL,
  exp INT NOT NULL,
  val INT NOT NULL,
  lo INT NOT NULL,
  hi INT NOT NULL
);
-- glidemon
DROP TABLE IF EXISTS users;
CREATE TABLE users (
  user_id INT NOT NULL,
  name VARCHAR(32) NOT NULL,
  dn VARCHAR(120) NOT NULL,
  PRIMARY KEY (user_id),
  UNIQUE (name)
);
DROP TABLE IF EXISTS sites;
CREATE TABLE sites (
  site_id INT NOT NULL,
  name VARCHAR(32) NOT NULL,
  PRIMARY KEY (site_id)
);
DROP TABLE IF EXISTS states;
CREATE TABLE states (
  state_id INT NOT NULL,
  name VARCHAR(16) NOT NULL,
  PRIMARY KEY (state_id)
);
DROP TABLE IF EXISTS tasks;
CREATE TABLE tasks (
  task_id INT NOT NULL,
  user_id INT NOT NULL,
  name VARCHAR(64) NOT NULL,
  type VARCHAR(10) NOT NULL,
  n_jobs INT NOT NULL,
  first_job_id BIGINT NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  tool VARCHAR(16) NOT NULL,
  dataset VARCHAR(80) NOT NULL,
  PRIMARY KEY (task_id),
  UNIQUE (name)
);
CREATE INDEX tasks_user_id_updated ON tasks (user_id, updated);
CREATE INDEX tasks_type_created ON tasks (type, created);
ALTER TABLE tasks ADD CONSTRAINT tasks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (user_id);
DROP TABLE IF EXISTS jobs;
CREATE TABLE jobs (
  job_id BIGINT NOT NULL,
  task_id INT NOT NULL,
  job_index INT NOT NULL,
  last_update DATETIME NOT NULL,
  state_id INT NOT NULL,
  site_id INT NOT NULL,
  submit_time DATETIME NOT NULL,
  start_time DATETIME,
  end_time DATETIME,
  exit_code INT,
  retries INT NOT NULL,
  log_url VARCHAR(120) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE (task_id, job_index)
);
CREATE INDEX jobs_last_update ON jobs (last_update);
CREATE INDEX jobs_task_id_state_id ON jobs (task_id, state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_task_id_fkey FOREIGN KEY (task_id) REFERENCES tasks (task_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_state_id_fkey FOREIGN KEY (state_id) REFERENCES states (state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites (site_id);
DROP TABLE IF EXISTS job_records;
CREATE TABLE job_records (
  job_id BIGINT NOT NULL,
  task_id INT NOT NULL,
  job_index INT NOT NULL,
  user_id INT NOT NULL,
  user_name VARCHAR(32) NOT NULL,
  task VARCHAR(64) NOT NULL,
  type VARCHAR(10) NOT NULL,
  n_jobs INT NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  tool VARCHAR(16) NOT NULL,
  dataset VARCHAR(80) NOT NULL,
  last_update DATETIME NOT NULL,
  state VARCHAR(16) NOT NULL,
  site VARCHAR(32) NOT NULL,
  submit_time DATETIME NOT NULL,
  start_time DATETIME,
  end_time DATETIME,
  exit_code INT,
  retries INT NOT NULL,
  log_url VARCHAR(120) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE (task_id, job_index)
);
CREATE INDEX job_records_last_update ON job_records (last_update);
CREATE INDEX job_records_task_id_state ON job_records (task_id, state);
CREATE INDEX job_records_user_id_updated ON job_records (user_id, updated);
CREATE INDEX job_records_type_created ON job_records (type, created);
CREATE INDEX job_records_user_name ON job_records (user_name);
CREATE INDEX job_records_task ON job_records (task);
DROP TABLE IF EXISTS jobs_by_user;
CREATE TABLE jobs_by_user (
  job_id BIGINT NOT NULL,
  task_id INT NOT NULL,
  job_index INT NOT NULL,
  user_id INT NOT NULL,
  user_name VARCHAR(32) NOT NULL,
  task VARCHAR(64) NOT NULL,
  type VARCHAR(10) NOT NULL,
  n_jobs INT NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  tool VARCHAR(16) NOT NULL,
  dataset VARCHAR(80) NOT NULL,
  last_update DATETIME NOT NULL,
  state VARCHAR(16) NOT NULL,
  site VARCHAR(32) NOT NULL,
  submit_time DATETIME NOT NULL,
  start_time DATETIME,
  end_time DATETIME,
  exit_code INT,
  retries INT NOT NULL,
  log_url VARCHAR(120) NOT NULL,
  PRIMARY KEY (user_id, updated, task_id, state, job_id)
);
DROP TABLE IF EXISTS jobs_by_state;
CREATE TABLE jobs_by_state (
  user_name VARCHAR(32) NOT NULL,
  type VARCHAR(10) NOT NULL,
  state VARCHAR(16) NOT NULL,
  last_update DATETIME NOT NULL,
  job_id BIGINT NOT NULL,
  PRIMARY KEY (user_name, type, state, last_update, job_id)
);
DROP TABLE IF EXISTS jobs_by_task;
CREATE TABLE jobs_by_task (
  task_id INT NOT NULL,
  job_index INT NOT NULL,
  task VARCHAR(64) NOT NULL,
  user_id INT NOT NULL,
  user_name VARCHAR(32) NOT NULL,
  type VARCHAR(10) NOT NULL,
  created DATETIME NOT NULL,
  updated DATETIME NOT NULL,
  n_jobs INT NOT NULL,
  tool VARCHAR(16) NOT NULL,
  dataset VARCHAR(80) NOT NULL,
  state VARCHAR(16) NOT NULL,
  site VARCHAR(32) NOT NULL,
  exit_code INT,
  retries INT NOT NULL,
  submit_time DATETIME NOT NULL,
  start_time DATETIME,
  end_time DATETIME,
  PRIMARY KEY (task_id, job_index)
);
DROP TABLE IF EXISTS task_summary;
CREATE TABLE task_summary (
  task_id INT NOT NULL,
  state_id INT NOT NULL,
  jobs INT NOT NULL,
  PRIMARY KEY (task_id, state_id)
);
DROP TABLE IF EXISTS user_summary;
CREATE TABLE user_summary (
  user_id INT NOT NULL,
  state_id INT NOT NULL,
  jobs INT NOT NULL,
  PRIMARY KEY (user_id, state_id)
);
-- ssd
DROP TABLE IF EXISTS tbl_200;
CREATE TABLE tbl_200 (
  id VARCHAR(20) NOT NULL,
  seq INT NOT NULL,
  col3 VARCHAR(16) NOT NULL,
  col4 VARCHAR(5) NOT NULL,
  col5 VARCHAR(50) NOT NULL,
  col6 VARCHAR(1000),
  col7 VARCHAR(300) NOT NULL,
  col8 VARCHAR(150),
  col9 DATETIME NOT NULL,
  col10 SMALLINT DEFAULT 0 NOT NULL,
  col11 DATETIME NOT NULL,
  col12 VARCHAR(15) NOT NULL,
  col13 CHAR(1) NOT NULL,
  col14 CHAR(1) NOT NULL,
  col15 DATETIME DEFAULT '2010-07-30 16:25:44' NOT NULL,
  PRIMARY KEY (id, seq),
  UNIQUE (id, col3, col4, col5)
);
CREATE INDEX tbl_200_id_col9_desc_col14 ON tbl_200 (id, col9 DESC, col14);
-- tpcb
DROP TABLE IF EXISTS pgbench_branches;
CREATE TABLE pgbench_branches (
  bid INT NOT NULL,
  bbalance INT,
  filler CHAR(88),
  PRIMARY KEY (bid)
);
DROP TABLE IF EXISTS pgbench_tellers;
CREATE TABLE pgbench_tellers (
  tid INT NOT NULL,
  bid INT,
  tbalance INT,
  filler CHAR(84),
  PRIMARY KEY (tid)
);
DROP TABLE IF EXISTS pgbench_accounts;
CREATE TABLE pgbench_accounts (
  aid INT NOT NULL,
  bid INT,
  abalance INT,
  filler CHAR(84),
  PRIMARY KEY (aid)
);
DROP TABLE IF EXISTS pgbench_history;
CREATE TABLE pgbench_history (
  tid INT,
  bid INT,
  aid INT,
  delta INT,
  mtime DATETIME,
  filler CHAR(22)
);
DROP TABLE IF EXISTS branches;
CREATE TABLE branches (
  bid INT NOT NULL,
  bbalance BIGINT NOT NULL,
  filler CHAR(88) NOT NULL,
  PRIMARY KEY (bid)
);
DROP TABLE IF EXISTS tellers;
CREATE TABLE tellers (
  tid INT NOT NULL,
  bid INT NOT NULL,
  tbalance BIGINT NOT NULL,
  filler CHAR(84) NOT NULL,
  PRIMARY KEY (tid)
);
DROP TABLE IF EXISTS accounts;
CREATE TABLE accounts (
  aid INT NOT NULL,
  bid INT NOT NULL,
  abalance BIGINT NOT NULL,
  filler CHAR(84) NOT NULL,
  PRIMARY KEY (aid)
);
DROP TABLE IF EXISTS history;
CREATE TABLE history (
  tid INT NOT NULL,
  bid INT NOT NULL,
  aid INT NOT NULL,
  delta INT NOT NULL,
  mtime DATETIME NOT NULL,
  filler CHAR(28) NOT NULL
);
