-- as3ap
DROP TABLE IF EXISTS uniques;
CREATE TABLE uniques (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float FLOAT NOT NULL,
  col_double DOUBLE NOT NULL,
  col_decim NUMERIC(18,2) NOT NULL,
  col_date DATETIME NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
DROP TABLE IF EXISTS updates;
CREATE TABLE updates (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float FLOAT NOT NULL,
  col_double DOUBLE NOT NULL,
  col_decim NUMERIC(18,2) NOT NULL,
  col_date DATETIME NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
DROP TABLE IF EXISTS hundred;
CREATE TABLE hundred (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float FLOAT NOT NULL,
  col_double DOUBLE NOT NULL,
  col_decim NUMERIC(18,2) NOT NULL,
  col_date DATETIME NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
ALTER TABLE hundred ADD CONSTRAINT hundred_col_signed_fkey FOREIGN KEY (col_signed) REFERENCES updates (col_key);
DROP TABLE IF EXISTS tenpct;
CREATE TABLE tenpct (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float FLOAT NOT NULL,
  col_double DOUBLE NOT NULL,
  col_decim NUMERIC(18,2) NOT NULL,
  col_date DATETIME NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key, col_code)
);
DROP TABLE IF EXISTS tiny;
CREATE TABLE tiny (
  col_key INT NOT NULL,
  PRIMARY KEY (col_key)
);
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
-- chbench
DROP TABLE IF EXISTS item;
CREATE TABLE item (
  i_id INT NOT NULL,
  i_im_id INT NOT NULL,
  i_name VARCHAR(24) NOT NULL,
  i_price NUMERIC(5,2) NOT NULL,
  i_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (i_id)
);
DROP TABLE IF EXISTS warehouse;
CREATE TABLE warehouse (
  w_id INT NOT NULL,
  w_name VARCHAR(10) NOT NULL,
  w_street_1 VARCHAR(20) NOT NULL,
  w_street_2 VARCHAR(20) NOT NULL,
  w_city VARCHAR(20) NOT NULL,
  w_state CHAR(2) NOT NULL,
  w_zip CHAR(9) NOT NULL,
  w_tax NUMERIC(4,4) NOT NULL,
  w_ytd NUMERIC(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
DROP TABLE IF EXISTS stock;
CREATE TABLE stock (
  s_i_id INT NOT NULL,
  s_w_id INT NOT NULL,
  s_quantity INT NOT NULL,
  s_dist_01 CHAR(24) NOT NULL,
  s_dist_02 CHAR(24) NOT NULL,
  s_dist_03 CHAR(24) NOT NULL,
  s_dist_04 CHAR(24) NOT NULL,
  s_dist_05 CHAR(24) NOT NULL,
  s_dist_06 CHAR(24) NOT NULL,
  s_dist_07 CHAR(24) NOT NULL,
  s_dist_08 CHAR(24) NOT NULL,
  s_dist_09 CHAR(24) NOT NULL,
  s_dist_10 CHAR(24) NOT NULL,
  s_ytd INT NOT NULL,
  s_order_cnt INT NOT NULL,
  s_remote_cnt INT NOT NULL,
  s_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
DROP TABLE IF EXISTS district;
CREATE TABLE district (
  d_id INT NOT NULL,
  d_w_id INT NOT NULL,
  d_name VARCHAR(10) NOT NULL,
  d_street_1 VARCHAR(20) NOT NULL,
  d_street_2 VARCHAR(20) NOT NULL,
  d_city VARCHAR(20) NOT NULL,
  d_state CHAR(2) NOT NULL,
  d_zip CHAR(9) NOT NULL,
  d_tax NUMERIC(4,4) NOT NULL,
  d_ytd NUMERIC(12,2) NOT NULL,
  d_next_o_id INT NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
DROP TABLE IF EXISTS customer;
CREATE TABLE customer (
  c_id INT NOT NULL,
  c_d_id INT NOT NULL,
  c_w_id INT NOT NULL,
  c_first VARCHAR(16) NOT NULL,
  c_middle CHAR(2) NOT NULL,
  c_last VARCHAR(16) NOT NULL,
  c_street_1 VARCHAR(20) NOT NULL,
  c_street_2 VARCHAR(20) NOT NULL,
  c_city VARCHAR(20) NOT NULL,
  c_state CHAR(2) NOT NULL,
  c_zip CHAR(9) NOT NULL,
  c_phone CHAR(16) NOT NULL,
  c_since DATETIME NOT NULL,
  c_credit CHAR(2) NOT NULL,
  c_credit_lim NUMERIC(12,2) NOT NULL,
  c_discount NUMERIC(4,4) NOT NULL,
  c_balance NUMERIC(12,2) NOT NULL,
  c_ytd_payment NUMERIC(12,2) NOT NULL,
  c_payment_cnt INT NOT NULL,
  c_delivery_cnt INT NOT NULL,
  c_data VARCHAR(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
DROP TABLE IF EXISTS history;
CREATE TABLE history (
  h_c_id INT NOT NULL,
  h_c_d_id INT NOT NULL,
  h_c_w_id INT NOT NULL,
  h_d_id INT NOT NULL,
  h_w_id INT NOT NULL,
  h_date DATETIME NOT NULL,
  h_amount NUMERIC(6,2) NOT NULL,
  h_data VARCHAR(24) NOT NULL
);
DROP TABLE IF EXISTS orders;
CREATE TABLE orders (
  o_id INT NOT NULL,
  o_d_id INT NOT NULL,
  o_w_id INT NOT NULL,
  o_c_id INT NOT NULL,
  o_entry_d DATETIME NOT NULL,
  o_carrier_id INT,
  o_ol_cnt INT NOT NULL,
  o_all_local INT NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
DROP TABLE IF EXISTS order_line;
CREATE TABLE order_line (
  ol_o_id INT NOT NULL,
  ol_d_id INT NOT NULL,
  ol_w_id INT NOT NULL,
  ol_number INT NOT NULL,
  ol_i_id INT NOT NULL,
  ol_supply_w_id INT NOT NULL,
  ol_delivery_d DATETIME,
  ol_quantity INT NOT NULL,
  ol_amount NUMERIC(6,2) NOT NULL,
  ol_dist_info CHAR(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
DROP TABLE IF EXISTS new_order;
CREATE TABLE new_order (
  no_o_id INT NOT NULL,
  no_d_id INT NOT NULL,
  no_w_id INT NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
DROP TABLE IF EXISTS region;
CREATE TABLE region (
  r_regionkey INT NOT NULL,
  r_name VARCHAR(55) NOT NULL,
  r_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
DROP TABLE IF EXISTS nation;
CREATE TABLE nation (
  n_nationkey INT NOT NULL,
  n_name VARCHAR(25) NOT NULL,
  n_regionkey INT NOT NULL,
  n_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
DROP TABLE IF EXISTS supplier;
CREATE TABLE supplier (
  su_suppkey INT NOT NULL,
  su_name VARCHAR(25) NOT NULL,
  su_address VARCHAR(40) NOT NULL,
  su_nationkey INT NOT NULL,
  su_phone VARCHAR(15) NOT NULL,
  su_acctbal NUMERIC(12,2) NOT NULL,
  su_comment VARCHAR(101) NOT NULL,
  PRIMARY KEY (su_suppkey)
);
CREATE INDEX supplier_su_nationkey ON supplier (su_nationkey);
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
-- oltp
DROP TABLE IF EXISTS sbtest1;
CREATE TABLE sbtest1 (
  id INT NOT NULL,
  k INT DEFAULT 0 NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX sbtest1_k ON sbtest1 (k);
-- scalable-hardware
DROP TABLE IF EXISTS updates;
CREATE TABLE updates (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT NOT NULL,
  col_float FLOAT NOT NULL,
  col_double DOUBLE NOT NULL,
  col_decim NUMERIC(18,2) NOT NULL,
  col_date DATETIME NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
CREATE INDEX updates_col_code ON updates (col_code);
DROP TABLE IF EXISTS hundred;
CREATE TABLE hundred (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT NOT NULL,
  col_float FLOAT NOT NULL,
  col_double DOUBLE NOT NULL,
  col_decim NUMERIC(18,2) NOT NULL,
  col_date DATETIME NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
-- setquery
DROP TABLE IF EXISTS bench;
CREATE TABLE bench (
  kseq INT NOT NULL,
  k500k INT NOT NULL,
  k250k INT NOT NULL,
  k100k INT NOT NULL,
  k40k INT NOT NULL,
  k10k INT NOT NULL,
  k1k INT NOT NULL,
  k100 INT NOT NULL,
  k25 INT NOT NULL,
  k10 INT NOT NULL,
  k5 INT NOT NULL,
  k4 INT NOT NULL,
  k2 INT NOT NULL,
  s1 CHAR(8) NOT NULL,
  s2 CHAR(20) NOT NULL,
  s3 CHAR(20) NOT NULL,
  s4 CHAR(20) NOT NULL,
  s5 CHAR(20) NOT NULL,
  s6 CHAR(20) NOT NULL,
  s7 CHAR(20) NOT NULL,
  s8 CHAR(20) NOT NULL,
  PRIMARY KEY (kseq)
);
CREATE INDEX bench_k500k ON bench (k500k);
CREATE INDEX bench_k250k ON bench (k250k);
CREATE INDEX bench_k100k ON bench (k100k);
CREATE INDEX bench_k40k ON bench (k40k);
CREATE INDEX bench_k10k ON bench (k10k);
CREATE INDEX bench_k1k ON bench (k1k);
CREATE INDEX bench_k100 ON bench (k100);
CREATE INDEX bench_k25 ON bench (k25);
CREATE INDEX bench_k10 ON bench (k10);
CREATE INDEX bench_k5 ON bench (k5);
CREATE INDEX bench_k4 ON bench (k4);
CREATE INDEX bench_k2 ON bench (k2);
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
-- tpcc
DROP TABLE IF EXISTS item;
CREATE TABLE item (
  i_id INT NOT NULL,
  i_im_id INT NOT NULL,
  i_name VARCHAR(24) NOT NULL,
  i_price NUMERIC(5,2) NOT NULL,
  i_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (i_id)
);
DROP TABLE IF EXISTS warehouse;
CREATE TABLE warehouse (
  w_id INT NOT NULL,
  w_name VARCHAR(10) NOT NULL,
  w_street_1 VARCHAR(20) NOT NULL,
  w_street_2 VARCHAR(20) NOT NULL,
  w_city VARCHAR(20) NOT NULL,
  w_state CHAR(2) NOT NULL,
  w_zip CHAR(9) NOT NULL,
  w_tax NUMERIC(4,4) NOT NULL,
  w_ytd NUMERIC(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
DROP TABLE IF EXISTS stock;
CREATE TABLE stock (
  s_i_id INT NOT NULL,
  s_w_id INT NOT NULL,
  s_quantity INT NOT NULL,
  s_dist_01 CHAR(24) NOT NULL,
  s_dist_02 CHAR(24) NOT NULL,
  s_dist_03 CHAR(24) NOT NULL,
  s_dist_04 CHAR(24) NOT NULL,
  s_dist_05 CHAR(24) NOT NULL,
  s_dist_06 CHAR(24) NOT NULL,
  s_dist_07 CHAR(24) NOT NULL,
  s_dist_08 CHAR(24) NOT NULL,
  s_dist_09 CHAR(24) NOT NULL,
  s_dist_10 CHAR(24) NOT NULL,
  s_ytd INT NOT NULL,
  s_order_cnt INT NOT NULL,
  s_remote_cnt INT NOT NULL,
  s_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
DROP TABLE IF EXISTS district;
CREATE TABLE district (
  d_id INT NOT NULL,
  d_w_id INT NOT NULL,
  d_name VARCHAR(10) NOT NULL,
  d_street_1 VARCHAR(20) NOT NULL,
  d_street_2 VARCHAR(20) NOT NULL,
  d_city VARCHAR(20) NOT NULL,
  d_state CHAR(2) NOT NULL,
  d_zip CHAR(9) NOT NULL,
  d_tax NUMERIC(4,4) NOT NULL,
  d_ytd NUMERIC(12,2) NOT NULL,
  d_next_o_id INT NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
DROP TABLE IF EXISTS customer;
CREATE TABLE customer (
  c_id INT NOT NULL,
  c_d_id INT NOT NULL,
  c_w_id INT NOT NULL,
  c_first VARCHAR(16) NOT NULL,
  c_middle CHAR(2) NOT NULL,
  c_last VARCHAR(16) NOT NULL,
  c_street_1 VARCHAR(20) NOT NULL,
  c_street_2 VARCHAR(20) NOT NULL,
  c_city VARCHAR(20) NOT NULL,
  c_state CHAR(2) NOT NULL,
  c_zip CHAR(9) NOT NULL,
  c_phone CHAR(16) NOT NULL,
  c_since DATETIME NOT NULL,
  c_credit CHAR(2) NOT NULL,
  c_credit_lim NUMERIC(12,2) NOT NULL,
  c_discount NUMERIC(4,4) NOT NULL,
  c_balance NUMERIC(12,2) NOT NULL,
  c_ytd_payment NUMERIC(12,2) NOT NULL,
  c_payment_cnt INT NOT NULL,
  c_delivery_cnt INT NOT NULL,
  c_data VARCHAR(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
DROP TABLE IF EXISTS history;
CREATE TABLE history (
  h_c_id INT NOT NULL,
  h_c_d_id INT NOT NULL,
  h_c_w_id INT NOT NULL,
  h_d_id INT NOT NULL,
  h_w_id INT NOT NULL,
  h_date DATETIME NOT NULL,
  h_amount NUMERIC(6,2) NOT NULL,
  h_data VARCHAR(24) NOT NULL
);
DROP TABLE IF EXISTS orders;
CREATE TABLE orders (
  o_id INT NOT NULL,
  o_d_id INT NOT NULL,
  o_w_id INT NOT NULL,
  o_c_id INT NOT NULL,
  o_entry_d DATETIME NOT NULL,
  o_carrier_id INT,
  o_ol_cnt INT NOT NULL,
  o_all_local INT NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
DROP TABLE IF EXISTS order_line;
CREATE TABLE order_line (
  ol_o_id INT NOT NULL,
  ol_d_id INT NOT NULL,
  ol_w_id INT NOT NULL,
  ol_number INT NOT NULL,
  ol_i_id INT NOT NULL,
  ol_supply_w_id INT NOT NULL,
  ol_delivery_d DATETIME,
  ol_quantity INT NOT NULL,
  ol_amount NUMERIC(6,2) NOT NULL,
  ol_dist_info CHAR(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
DROP TABLE IF EXISTS new_order;
CREATE TABLE new_order (
  no_o_id INT NOT NULL,
  no_d_id INT NOT NULL,
  no_w_id INT NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
-- tpch
DROP TABLE IF EXISTS region;
CREATE TABLE region (
  r_regionkey INT NOT NULL,
  r_name VARCHAR(25) NOT NULL,
  r_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
DROP TABLE IF EXISTS nation;
CREATE TABLE nation (
  n_nationkey INT NOT NULL,
  n_name VARCHAR(25) NOT NULL,
  n_regionkey INT NOT NULL,
  n_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
CREATE INDEX nation_n_regionkey ON nation (n_regionkey);
DROP TABLE IF EXISTS supplier;
CREATE TABLE supplier (
  s_suppkey INT NOT NULL,
  s_name VARCHAR(25) NOT NULL,
  s_address VARCHAR(40) NOT NULL,
  s_nationkey INT NOT NULL,
  s_phone VARCHAR(15) NOT NULL,
  s_acctbal NUMERIC(15,2) NOT NULL,
  s_comment VARCHAR(101) NOT NULL,
  PRIMARY KEY (s_suppkey)
);
CREATE INDEX supplier_s_nationkey ON supplier (s_nationkey);
DROP TABLE IF EXISTS customer;
CREATE TABLE customer (
  c_custkey INT NOT NULL,
  c_name VARCHAR(25) NOT NULL,
  c_address VARCHAR(40) NOT NULL,
  c_nationkey INT NOT NULL,
  c_phone VARCHAR(15) NOT NULL,
  c_acctbal NUMERIC(15,2) NOT NULL,
  c_mktsegment VARCHAR(10) NOT NULL,
  c_comment VARCHAR(117) NOT NULL,
  PRIMARY KEY (c_custkey)
);
CREATE INDEX customer_c_nationkey ON customer (c_nationkey);
DROP TABLE IF EXISTS part;
CREATE TABLE part (
  p_partkey INT NOT NULL,
  p_name VARCHAR(55) NOT NULL,
  p_mfgr VARCHAR(25) NOT NULL,
  p_brand VARCHAR(10) NOT NULL,
  p_type VARCHAR(25) NOT NULL,
  p_size INT NOT NULL,
  p_container VARCHAR(10) NOT NULL,
  p_retailprice NUMERIC(15,2) NOT NULL,
  p_comment VARCHAR(23) NOT NULL,
  PRIMARY KEY (p_partkey)
);
DROP TABLE IF EXISTS partsupp;
CREATE TABLE partsupp (
  ps_partkey INT NOT NULL,
  ps_suppkey INT NOT NULL,
  ps_availqty INT NOT NULL,
  ps_supplycost NUMERIC(15,2) NOT NULL,
  ps_comment VARCHAR(199) NOT NULL,
  PRIMARY KEY (ps_partkey, ps_suppkey)
);
CREATE INDEX partsupp_ps_suppkey ON partsupp (ps_suppkey);
DROP TABLE IF EXISTS orders;
CREATE TABLE orders (
  o_orderkey BIGINT NOT NULL,
  o_custkey INT NOT NULL,
  o_orderstatus CHAR(1) NOT NULL,
  o_totalprice NUMERIC(15,2) NOT NULL,
  o_orderdate DATE NOT NULL,
  o_orderpriority VARCHAR(15) NOT NULL,
  o_clerk VARCHAR(15) NOT NULL,
  o_shippriority INT NOT NULL,
  o_comment VARCHAR(79) NOT NULL,
  PRIMARY KEY (o_orderkey)
);
CREATE INDEX orders_o_custkey ON orders (o_custkey);
DROP TABLE IF EXISTS lineitem;
CREATE TABLE lineitem (
  l_orderkey BIGINT NOT NULL,
  l_partkey INT NOT NULL,
  l_suppkey INT NOT NULL,
  l_linenumber INT NOT NULL,
  l_quantity NUMERIC(15,2) NOT NULL,
  l_extendedprice NUMERIC(15,2) NOT NULL,
  l_discount NUMERIC(15,2) NOT NULL,
  l_tax NUMERIC(15,2) NOT NULL,
  l_returnflag CHAR(1) NOT NULL,
  l_linestatus CHAR(1) NOT NULL,
  l_shipdate DATE NOT NULL,
  l_commitdate DATE NOT NULL,
  l_receiptdate DATE NOT NULL,
  l_shipinstruct VARCHAR(25) NOT NULL,
  l_shipmode VARCHAR(10) NOT NULL,
  l_comment VARCHAR(44) NOT NULL,
  PRIMARY KEY (l_orderkey, l_linenumber)
);
CREATE INDEX lineitem_l_partkey_l_suppkey ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_l_suppkey ON lineitem (l_suppkey);
-- wisconsin
DROP TABLE IF EXISTS tenktup1;
CREATE TABLE tenktup1 (
  unique1 INT NOT NULL,
  unique2 INT NOT NULL,
  two INT NOT NULL,
  four INT NOT NULL,
  ten INT NOT NULL,
  twenty INT NOT NULL,
  onepercent INT NOT NULL,
  tenpercent INT NOT NULL,
  twentypercent INT NOT NULL,
  fiftypercent INT NOT NULL,
  unique3 INT NOT NULL,
  evenonepercent INT NOT NULL,
  oddonepercent INT NOT NULL,
  stringu1 CHAR(52) NOT NULL,
  stringu2 CHAR(52) NOT NULL,
  string4 CHAR(52) NOT NULL
);
DROP TABLE IF EXISTS onektup;
CREATE TABLE onektup (
  unique1 INT NOT NULL,
  unique2 INT NOT NULL,
  two INT NOT NULL,
  four INT NOT NULL,
  ten INT NOT NULL,
  twenty INT NOT NULL,
  onepercent INT NOT NULL,
  tenpercent INT NOT NULL,
  twentypercent INT NOT NULL,
  fiftypercent INT NOT NULL,
  unique3 INT NOT NULL,
  evenonepercent INT NOT NULL,
  oddonepercent INT NOT NULL,
  stringu1 CHAR(52) NOT NULL,
  stringu2 CHAR(52) NOT NULL,
  string4 CHAR(52) NOT NULL
);
-- ycsb
DROP TABLE IF EXISTS usertable;
CREATE TABLE usertable (
  ycsb_key VARCHAR(255) NOT NULL,
  field0 STRING,
  field1 STRING,
  field2 STRING,
  field3 STRING,
  field4 STRING,
  field5 STRING,
  field6 STRING,
  field7 STRING,
  field8 STRING,
  field9 STRING,
  PRIMARY KEY (ycsb_key)
);
