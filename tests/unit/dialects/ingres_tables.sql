-- bibsql
DROP TABLE bibtab;
CREATE TABLE bibtab (
  authorcount INTEGER,
  editorcount INTEGER,
  pagecount INTEGER,
  bibtype VARCHAR(400),
  filename VARCHAR(400),
  label VARCHAR(400),
  author LONG VARCHAR,
  editor VARCHAR(400),
  booktitle LONG VARCHAR,
  title LONG VARCHAR,
  crossref LONG VARCHAR,
  chapter LONG VARCHAR,
  journal VARCHAR(400),
  volume VARCHAR(400),
  type LONG VARCHAR,
  number VARCHAR(400),
  institution LONG VARCHAR,
  organization LONG VARCHAR,
  publisher VARCHAR(400),
  school LONG VARCHAR,
  address LONG VARCHAR,
  edition LONG VARCHAR,
  pages LONG VARCHAR,
  day LONG VARCHAR,
  month VARCHAR(400),
  monthnumber LONG VARCHAR,
  year VARCHAR(400),
  CODEN VARCHAR(400),
  DOI VARCHAR(400),
  ISBN VARCHAR(400),
  ISBN13 VARCHAR(400),
  ISSN VARCHAR(400),
  LCCN VARCHAR(400),
  MRclass LONG VARCHAR,
  MRnumber LONG VARCHAR,
  MRreviewer LONG VARCHAR,
  bibdate VARCHAR(400),
  bibsource LONG VARCHAR,
  bibtimestamp VARCHAR(400),
  note LONG VARCHAR,
  series LONG VARCHAR,
  URL LONG VARCHAR,
  abstract LONG VARCHAR,
  keywords LONG VARCHAR,
  remark LONG VARCHAR,
  subject LONG VARCHAR,
  TOC LONG VARCHAR,
  ZMnumber LONG VARCHAR,
  entry LONG VARCHAR NOT NULL
);
CREATE INDEX bibtab_filename ON bibtab (filename);
CREATE INDEX bibtab_label ON bibtab (label);
CREATE INDEX bibtab_bibtype ON bibtab (bibtype);
CREATE INDEX bibtab_editor ON bibtab (editor);
CREATE INDEX bibtab_journal ON bibtab (journal);
CREATE INDEX bibtab_volume ON bibtab (volume);
CREATE INDEX bibtab_number ON bibtab (number);
CREATE INDEX bibtab_year ON bibtab (year);
CREATE INDEX bibtab_month ON bibtab (month);
CREATE INDEX bibtab_publisher ON bibtab (publisher);
CREATE INDEX bibtab_coden ON bibtab (CODEN);
CREATE INDEX bibtab_doi ON bibtab (DOI);
CREATE INDEX bibtab_isbn ON bibtab (ISBN);
CREATE INDEX bibtab_isbn13 ON bibtab (ISBN13);
CREATE INDEX bibtab_issn ON bibtab (ISSN);
CREATE INDEX bibtab_lccn ON bibtab (LCCN);
CREATE INDEX bibtab_bibdate ON bibtab (bibdate);
CREATE INDEX bibtab_bibtimestamp ON bibtab (bibtimestamp);
DROP TABLE strtab;
CREATE TABLE strtab (
  "key" LONG VARCHAR,
  value LONG VARCHAR,
  entry LONG VARCHAR NOT NULL
);
DROP TABLE namtab;
CREATE TABLE namtab (
  name LONG VARCHAR NOT NULL,
  "count" INTEGER
);
-- e831
DROP TABLE data;
CREATE TABLE data (
  name CHAR(16) NOT NULL,
  "start" INTEGER NOT NULL,
  exp INTEGER NOT NULL,
  val INTEGER NOT NULL,
  lo INTEGER NOT NULL,
  hi INTEGER NOT NULL
);
-- glidemon
DROP TABLE users;
CREATE TABLE users (
  user_id INTEGER NOT NULL,
  name VARCHAR(32) NOT NULL,
  dn VARCHAR(120) NOT NULL,
  PRIMARY KEY (user_id),
  UNIQUE (name)
);
DROP TABLE sites;
CREATE TABLE sites (
  site_id INTEGER NOT NULL,
  name VARCHAR(32) NOT NULL,
  PRIMARY KEY (site_id)
);
DROP TABLE states;
CREATE TABLE states (
  state_id INTEGER NOT NULL,
  name VARCHAR(16) NOT NULL,
  PRIMARY KEY (state_id)
);
DROP TABLE tasks;
CREATE TABLE tasks (
  task_id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  name VARCHAR(64) NOT NULL,
  type VARCHAR(10) NOT NULL,
  n_jobs INTEGER NOT NULL,
  first_job_id BIGINT NOT NULL,
  created TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  updated TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  tool VARCHAR(16) NOT NULL,
  dataset VARCHAR(80) NOT NULL,
  PRIMARY KEY (task_id),
  UNIQUE (name)
);
CREATE INDEX tasks_user_id_updated ON tasks (user_id, updated);
CREATE INDEX tasks_type_created ON tasks (type, created);
ALTER TABLE tasks ADD CONSTRAINT tasks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (user_id);
DROP TABLE jobs;
CREATE TABLE jobs (
  job_id BIGINT NOT NULL,
  task_id INTEGER NOT NULL,
  job_index INTEGER NOT NULL,
  last_update TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  state_id INTEGER NOT NULL,
  site_id INTEGER NOT NULL,
  submit_time TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  start_time TIMESTAMP(6) WITHOUT TIME ZONE,
  end_time TIMESTAMP(6) WITHOUT TIME ZONE,
  exit_code INTEGER,
  retries INTEGER NOT NULL,
  log_url VARCHAR(120) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE (task_id, job_index)
);
CREATE INDEX jobs_last_update ON jobs (last_update);
CREATE INDEX jobs_task_id_state_id ON jobs (task_id, state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_task_id_fkey FOREIGN KEY (task_id) REFERENCES tasks (task_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_state_id_fkey FOREIGN KEY (state_id) REFERENCES states (state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites (site_id);
DROP TABLE task_summary;
CREATE TABLE task_summary (
  task_id INTEGER NOT NULL,
  state_id INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  PRIMARY KEY (task_id, state_id)
);
DROP TABLE user_summary;
CREATE TABLE user_summary (
  user_id INTEGER NOT NULL,
  state_id INTEGER NOT NULL,
  jobs INTEGER NOT NULL,
  PRIMARY KEY (user_id, state_id)
);
-- ssd
DROP TABLE tbl_200;
CREATE TABLE tbl_200 (
  id VARCHAR(20) NOT NULL,
  seq INTEGER NOT NULL,
  col3 VARCHAR(16) NOT NULL,
  col4 VARCHAR(5) NOT NULL,
  col5 VARCHAR(50) NOT NULL,
  col6 VARCHAR(1000),
  col7 VARCHAR(300) NOT NULL,
  col8 VARCHAR(150),
  col9 TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col10 SMALLINT DEFAULT 0 NOT NULL,
  col11 TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col12 VARCHAR(15) NOT NULL,
  col13 CHAR(1) NOT NULL,
  col14 CHAR(1) NOT NULL,
  col15 TIMESTAMP(6) WITHOUT TIME ZONE DEFAULT '2010-07-30 16:25:44' NOT NULL,
  PRIMARY KEY (id, seq),
  UNIQUE (id, col3, col4, col5)
);
CREATE INDEX tbl_200_id_col9_desc_col14 ON tbl_200 (id, col9 DESC, col14);
-- tpcb
DROP TABLE pgbench_branches;
CREATE TABLE pgbench_branches (
  bid INTEGER NOT NULL,
  bbalance INTEGER,
  filler CHAR(88),
  PRIMARY KEY (bid)
);
DROP TABLE pgbench_tellers;
CREATE TABLE pgbench_tellers (
  tid INTEGER NOT NULL,
  bid INTEGER,
  tbalance INTEGER,
  filler CHAR(84),
  PRIMARY KEY (tid)
);
DROP TABLE pgbench_accounts;
CREATE TABLE pgbench_accounts (
  aid INTEGER NOT NULL,
  bid INTEGER,
  abalance INTEGER,
  filler CHAR(84),
  PRIMARY KEY (aid)
);
DROP TABLE pgbench_history;
CREATE TABLE pgbench_history (
  tid INTEGER,
  bid INTEGER,
  aid INTEGER,
  delta INTEGER,
  mtime TIMESTAMP(6) WITHOUT TIME ZONE,
  filler CHAR(22)
);
DROP TABLE branches;
CREATE TABLE branches (
  bid INTEGER NOT NULL,
  bbalance BIGINT NOT NULL,
  filler CHAR(88) NOT NULL,
  PRIMARY KEY (bid)
);
DROP TABLE tellers;
CREATE TABLE tellers (
  tid INTEGER NOT NULL,
  bid INTEGER NOT NULL,
  tbalance BIGINT NOT NULL,
  filler CHAR(84) NOT NULL,
  PRIMARY KEY (tid)
);
DROP TABLE accounts;
CREATE TABLE accounts (
  aid INTEGER NOT NULL,
  bid INTEGER NOT NULL,
  abalance BIGINT NOT NULL,
  filler CHAR(84) NOT NULL,
  PRIMARY KEY (aid)
);
DROP TABLE history;
CREATE TABLE history (
  tid INTEGER NOT NULL,
  bid INTEGER NOT NULL,
  aid INTEGER NOT NULL,
  delta INTEGER NOT NULL,
  mtime TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  filler CHAR(28) NOT NULL
);
