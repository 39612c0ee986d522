-- as3ap
DROP TABLE uniques PURGE;
CREATE TABLE uniques (
  col_key NUMBER(10) NOT NULL,
  col_int NUMBER(10) NOT NULL,
  col_signed NUMBER(10),
  col_float BINARY_FLOAT NOT NULL,
  col_double BINARY_DOUBLE NOT NULL,
  col_decim NUMBER(18,2) NOT NULL,
  col_date TIMESTAMP NOT NULL,
  col_code CHAR(10 CHAR) NOT NULL,
  col_name CHAR(20 CHAR) NOT NULL,
  col_address VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (col_key)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'uniques');
DROP TABLE updates PURGE;
CREATE TABLE updates (
  col_key NUMBER(10) NOT NULL,
  col_int NUMBER(10) NOT NULL,
  col_signed NUMBER(10),
  col_float BINARY_FLOAT NOT NULL,
  col_double BINARY_DOUBLE NOT NULL,
  col_decim NUMBER(18,2) NOT NULL,
  col_date TIMESTAMP NOT NULL,
  col_code CHAR(10 CHAR) NOT NULL,
  col_name CHAR(20 CHAR) NOT NULL,
  col_address VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (col_key)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'updates');
DROP TABLE hundred PURGE;
CREATE TABLE hundred (
  col_key NUMBER(10) NOT NULL,
  col_int NUMBER(10) NOT NULL,
  col_signed NUMBER(10),
  col_float BINARY_FLOAT NOT NULL,
  col_double BINARY_DOUBLE NOT NULL,
  col_decim NUMBER(18,2) NOT NULL,
  col_date TIMESTAMP NOT NULL,
  col_code CHAR(10 CHAR) NOT NULL,
  col_name CHAR(20 CHAR) NOT NULL,
  col_address VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (col_key)
);
ALTER TABLE hundred ADD CONSTRAINT hundred_col_signed_fkey FOREIGN KEY (col_signed) REFERENCES updates (col_key);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'hundred');
DROP TABLE tenpct PURGE;
CREATE TABLE tenpct (
  col_key NUMBER(10) NOT NULL,
  col_int NUMBER(10) NOT NULL,
  col_signed NUMBER(10),
  col_float BINARY_FLOAT NOT NULL,
  col_double BINARY_DOUBLE NOT NULL,
  col_decim NUMBER(18,2) NOT NULL,
  col_date TIMESTAMP NOT NULL,
  col_code CHAR(10 CHAR) NOT NULL,
  col_name CHAR(20 CHAR) NOT NULL,
  col_address VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (col_key, col_code)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'tenpct');
DROP TABLE tiny PURGE;
CREATE TABLE tiny (
  col_key NUMBER(10) NOT NULL,
  PRIMARY KEY (col_key)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'tiny');
-- bibsql
DROP TABLE bibtab PURGE;
CREATE TABLE bibtab (
  authorcount NUMBER(10),
  editorcount NUMBER(10),
  pagecount NUMBER(10),
  bibtype VARCHAR2(400 CHAR),
  filename VARCHAR2(400 CHAR),
  label VARCHAR2(400 CHAR),
  author CLOB,
  editor VARCHAR2(400 CHAR),
  booktitle CLOB,
  title CLOB,
  crossref CLOB,
  chapter CLOB,
  journal VARCHAR2(400 CHAR),
  volume VARCHAR2(400 CHAR),
  type CLOB,
  "number" VARCHAR2(400 CHAR),
  institution CLOB,
  organization CLOB,
  publisher VARCHAR2(400 CHAR),
  school CLOB,
  address CLOB,
  edition CLOB,
  pages CLOB,
  day CLOB,
  month VARCHAR2(400 CHAR),
  monthnumber CLOB,
  year VARCHAR2(400 CHAR),
  CODEN VARCHAR2(400 CHAR),
  DOI VARCHAR2(400 CHAR),
  ISBN VARCHAR2(400 CHAR),
  ISBN13 VARCHAR2(400 CHAR),
  ISSN VARCHAR2(400 CHAR),
  LCCN VARCHAR2(400 CHAR),
  MRclass CLOB,
  MRnumber CLOB,
  MRreviewer CLOB,
  bibdate VARCHAR2(400 CHAR),
  bibsource CLOB,
  bibtimestamp VARCHAR2(400 CHAR),
  note CLOB,
  series CLOB,
  URL CLOB,
  abstract CLOB,
  keywords CLOB,
  remark CLOB,
  subject CLOB,
  TOC CLOB,
  ZMnumber CLOB,
  entry CLOB NOT NULL
);
CREATE INDEX bibtab_filename ON bibtab (filename);
CREATE INDEX bibtab_label ON bibtab (label);
CREATE INDEX bibtab_bibtype ON bibtab (bibtype);
CREATE INDEX bibtab_editor ON bibtab (editor);
CREATE INDEX bibtab_journal ON bibtab (journal);
CREATE INDEX bibtab_volume ON bibtab (volume);
CREATE INDEX bibtab_number ON bibtab ("number");
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
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'bibtab');
DROP TABLE strtab PURGE;
CREATE TABLE strtab (
  key CLOB,
  value CLOB,
  entry CLOB NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'strtab');
DROP TABLE namtab PURGE;
CREATE TABLE namtab (
  name CLOB NOT NULL,
  count NUMBER(10)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'namtab');
-- chbench
DROP TABLE item PURGE;
CREATE TABLE item (
  i_id NUMBER(10) NOT NULL,
  i_im_id NUMBER(10) NOT NULL,
  i_name VARCHAR2(24 CHAR) NOT NULL,
  i_price NUMBER(5,2) NOT NULL,
  i_data VARCHAR2(50 CHAR) NOT NULL,
  PRIMARY KEY (i_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'item');
DROP TABLE warehouse PURGE;
CREATE TABLE warehouse (
  w_id NUMBER(10) NOT NULL,
  w_name VARCHAR2(10 CHAR) NOT NULL,
  w_street_1 VARCHAR2(20 CHAR) NOT NULL,
  w_street_2 VARCHAR2(20 CHAR) NOT NULL,
  w_city VARCHAR2(20 CHAR) NOT NULL,
  w_state CHAR(2 CHAR) NOT NULL,
  w_zip CHAR(9 CHAR) NOT NULL,
  w_tax NUMBER(4,4) NOT NULL,
  w_ytd NUMBER(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'warehouse');
DROP TABLE stock PURGE;
CREATE TABLE stock (
  s_i_id NUMBER(10) NOT NULL,
  s_w_id NUMBER(10) NOT NULL,
  s_quantity NUMBER(10) NOT NULL,
  s_dist_01 CHAR(24 CHAR) NOT NULL,
  s_dist_02 CHAR(24 CHAR) NOT NULL,
  s_dist_03 CHAR(24 CHAR) NOT NULL,
  s_dist_04 CHAR(24 CHAR) NOT NULL,
  s_dist_05 CHAR(24 CHAR) NOT NULL,
  s_dist_06 CHAR(24 CHAR) NOT NULL,
  s_dist_07 CHAR(24 CHAR) NOT NULL,
  s_dist_08 CHAR(24 CHAR) NOT NULL,
  s_dist_09 CHAR(24 CHAR) NOT NULL,
  s_dist_10 CHAR(24 CHAR) NOT NULL,
  s_ytd NUMBER(10) NOT NULL,
  s_order_cnt NUMBER(10) NOT NULL,
  s_remote_cnt NUMBER(10) NOT NULL,
  s_data VARCHAR2(50 CHAR) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'stock');
DROP TABLE district PURGE;
CREATE TABLE district (
  d_id NUMBER(10) NOT NULL,
  d_w_id NUMBER(10) NOT NULL,
  d_name VARCHAR2(10 CHAR) NOT NULL,
  d_street_1 VARCHAR2(20 CHAR) NOT NULL,
  d_street_2 VARCHAR2(20 CHAR) NOT NULL,
  d_city VARCHAR2(20 CHAR) NOT NULL,
  d_state CHAR(2 CHAR) NOT NULL,
  d_zip CHAR(9 CHAR) NOT NULL,
  d_tax NUMBER(4,4) NOT NULL,
  d_ytd NUMBER(12,2) NOT NULL,
  d_next_o_id NUMBER(10) NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'district');
DROP TABLE customer PURGE;
CREATE TABLE customer (
  c_id NUMBER(10) NOT NULL,
  c_d_id NUMBER(10) NOT NULL,
  c_w_id NUMBER(10) NOT NULL,
  c_first VARCHAR2(16 CHAR) NOT NULL,
  c_middle CHAR(2 CHAR) NOT NULL,
  c_last VARCHAR2(16 CHAR) NOT NULL,
  c_street_1 VARCHAR2(20 CHAR) NOT NULL,
  c_street_2 VARCHAR2(20 CHAR) NOT NULL,
  c_city VARCHAR2(20 CHAR) NOT NULL,
  c_state CHAR(2 CHAR) NOT NULL,
  c_zip CHAR(9 CHAR) NOT NULL,
  c_phone CHAR(16 CHAR) NOT NULL,
  c_since TIMESTAMP NOT NULL,
  c_credit CHAR(2 CHAR) NOT NULL,
  c_credit_lim NUMBER(12,2) NOT NULL,
  c_discount NUMBER(4,4) NOT NULL,
  c_balance NUMBER(12,2) NOT NULL,
  c_ytd_payment NUMBER(12,2) NOT NULL,
  c_payment_cnt NUMBER(10) NOT NULL,
  c_delivery_cnt NUMBER(10) NOT NULL,
  c_data VARCHAR2(500 CHAR) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'customer');
DROP TABLE history PURGE;
CREATE TABLE history (
  h_c_id NUMBER(10) NOT NULL,
  h_c_d_id NUMBER(10) NOT NULL,
  h_c_w_id NUMBER(10) NOT NULL,
  h_d_id NUMBER(10) NOT NULL,
  h_w_id NUMBER(10) NOT NULL,
  h_date TIMESTAMP NOT NULL,
  h_amount NUMBER(6,2) NOT NULL,
  h_data VARCHAR2(24 CHAR) NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'history');
DROP TABLE orders PURGE;
CREATE TABLE orders (
  o_id NUMBER(10) NOT NULL,
  o_d_id NUMBER(10) NOT NULL,
  o_w_id NUMBER(10) NOT NULL,
  o_c_id NUMBER(10) NOT NULL,
  o_entry_d TIMESTAMP NOT NULL,
  o_carrier_id NUMBER(10),
  o_ol_cnt NUMBER(10) NOT NULL,
  o_all_local NUMBER(10) NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'orders');
DROP TABLE order_line PURGE;
CREATE TABLE order_line (
  ol_o_id NUMBER(10) NOT NULL,
  ol_d_id NUMBER(10) NOT NULL,
  ol_w_id NUMBER(10) NOT NULL,
  ol_number NUMBER(10) NOT NULL,
  ol_i_id NUMBER(10) NOT NULL,
  ol_supply_w_id NUMBER(10) NOT NULL,
  ol_delivery_d TIMESTAMP,
  ol_quantity NUMBER(10) NOT NULL,
  ol_amount NUMBER(6,2) NOT NULL,
  ol_dist_info CHAR(24 CHAR) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'order_line');
DROP TABLE new_order PURGE;
CREATE TABLE new_order (
  no_o_id NUMBER(10) NOT NULL,
  no_d_id NUMBER(10) NOT NULL,
  no_w_id NUMBER(10) NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'new_order');
DROP TABLE region PURGE;
CREATE TABLE region (
  r_regionkey NUMBER(10) NOT NULL,
  r_name VARCHAR2(55 CHAR) NOT NULL,
  r_comment VARCHAR2(152 CHAR) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'region');
DROP TABLE nation PURGE;
CREATE TABLE nation (
  n_nationkey NUMBER(10) NOT NULL,
  n_name VARCHAR2(25 CHAR) NOT NULL,
  n_regionkey NUMBER(10) NOT NULL,
  n_comment VARCHAR2(152 CHAR) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'nation');
DROP TABLE supplier PURGE;
CREATE TABLE supplier (
  su_suppkey NUMBER(10) NOT NULL,
  su_name VARCHAR2(25 CHAR) NOT NULL,
  su_address VARCHAR2(40 CHAR) NOT NULL,
  su_nationkey NUMBER(10) NOT NULL,
  su_phone VARCHAR2(15 CHAR) NOT NULL,
  su_acctbal NUMBER(12,2) NOT NULL,
  su_comment VARCHAR2(101 CHAR) NOT NULL,
  PRIMARY KEY (su_suppkey)
);
CREATE INDEX supplier_su_nationkey ON supplier (su_nationkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'supplier');
-- e831
DROP TABLE data PURGE;
CREATE TABLE data (
  name CHAR(16 CHAR) NOT NULL,
  "start" NUMBER(10) NOT NULL,
  exp NUMBER(10) NOT NULL,
  val NUMBER(10) NOT NULL,
  lo NUMBER(10) NOT NULL,
  hi NUMBER(10) NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'data');
-- glidemon
DROP TABLE users PURGE;
CREATE TABLE users (
  user_id NUMBER(10) NOT NULL,
  name VARCHAR2(32 CHAR) NOT NULL,
  dn VARCHAR2(120 CHAR) NOT NULL,
  PRIMARY KEY (user_id),
  UNIQUE (name)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'users');
DROP TABLE sites PURGE;
CREATE TABLE sites (
  site_id NUMBER(10) NOT NULL,
  name VARCHAR2(32 CHAR) NOT NULL,
  PRIMARY KEY (site_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'sites');
DROP TABLE states PURGE;
CREATE TABLE states (
  state_id NUMBER(10) NOT NULL,
  name VARCHAR2(16 CHAR) NOT NULL,
  PRIMARY KEY (state_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'states');
DROP TABLE tasks PURGE;
CREATE TABLE tasks (
  task_id NUMBER(10) NOT NULL,
  user_id NUMBER(10) NOT NULL,
  name VARCHAR2(64 CHAR) NOT NULL,
  type VARCHAR2(10 CHAR) NOT NULL,
  n_jobs NUMBER(10) NOT NULL,
  first_job_id NUMBER(19) NOT NULL,
  created TIMESTAMP NOT NULL,
  updated TIMESTAMP NOT NULL,
  tool VARCHAR2(16 CHAR) NOT NULL,
  dataset VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (task_id),
  UNIQUE (name)
);
CREATE INDEX tasks_user_id_updated ON tasks (user_id, updated);
CREATE INDEX tasks_type_created ON tasks (type, created);
ALTER TABLE tasks ADD CONSTRAINT tasks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (user_id);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'tasks');
DROP TABLE jobs PURGE;
CREATE TABLE jobs (
  job_id NUMBER(19) NOT NULL,
  task_id NUMBER(10) NOT NULL,
  job_index NUMBER(10) NOT NULL,
  last_update TIMESTAMP NOT NULL,
  state_id NUMBER(10) NOT NULL,
  site_id NUMBER(10) NOT NULL,
  submit_time TIMESTAMP NOT NULL,
  start_time TIMESTAMP,
  end_time TIMESTAMP,
  exit_code NUMBER(10),
  retries NUMBER(10) NOT NULL,
  log_url VARCHAR2(120 CHAR) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE (task_id, job_index)
);
CREATE INDEX jobs_last_update ON jobs (last_update);
CREATE INDEX jobs_task_id_state_id ON jobs (task_id, state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_task_id_fkey FOREIGN KEY (task_id) REFERENCES tasks (task_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_state_id_fkey FOREIGN KEY (state_id) REFERENCES states (state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites (site_id);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'jobs');
DROP TABLE task_summary PURGE;
CREATE TABLE task_summary (
  task_id NUMBER(10) NOT NULL,
  state_id NUMBER(10) NOT NULL,
  jobs NUMBER(10) NOT NULL,
  PRIMARY KEY (task_id, state_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'task_summary');
DROP TABLE user_summary PURGE;
CREATE TABLE user_summary (
  user_id NUMBER(10) NOT NULL,
  state_id NUMBER(10) NOT NULL,
  jobs NUMBER(10) NOT NULL,
  PRIMARY KEY (user_id, state_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'user_summary');
-- oltp
DROP TABLE sbtest1 PURGE;
CREATE TABLE sbtest1 (
  id NUMBER(10) NOT NULL,
  k NUMBER(10) DEFAULT 0 NOT NULL,
  c CHAR(120 CHAR) DEFAULT '' NOT NULL,
  pad CHAR(60 CHAR) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX sbtest1_k ON sbtest1 (k);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'sbtest1');
-- scalable-hardware
DROP TABLE updates PURGE;
CREATE TABLE updates (
  col_key NUMBER(10) NOT NULL,
  col_int NUMBER(10) NOT NULL,
  col_signed NUMBER(10) NOT NULL,
  col_float BINARY_FLOAT NOT NULL,
  col_double BINARY_DOUBLE NOT NULL,
  col_decim NUMBER(18,2) NOT NULL,
  col_date TIMESTAMP NOT NULL,
  col_code CHAR(10 CHAR) NOT NULL,
  col_name CHAR(20 CHAR) NOT NULL,
  col_address VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (col_key)
);
CREATE INDEX updates_col_code ON updates (col_code);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'updates');
DROP TABLE hundred PURGE;
CREATE TABLE hundred (
  col_key NUMBER(10) NOT NULL,
  col_int NUMBER(10) NOT NULL,
  col_signed NUMBER(10) NOT NULL,
  col_float BINARY_FLOAT NOT NULL,
  col_double BINARY_DOUBLE NOT NULL,
  col_decim NUMBER(18,2) NOT NULL,
  col_date TIMESTAMP NOT NULL,
  col_code CHAR(10 CHAR) NOT NULL,
  col_name CHAR(20 CHAR) NOT NULL,
  col_address VARCHAR2(80 CHAR) NOT NULL,
  PRIMARY KEY (col_key)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'hundred');
-- setquery
DROP TABLE bench PURGE;
CREATE TABLE bench (
  kseq NUMBER(10) NOT NULL,
  k500k NUMBER(10) NOT NULL,
  k250k NUMBER(10) NOT NULL,
  k100k NUMBER(10) NOT NULL,
  k40k NUMBER(10) NOT NULL,
  k10k NUMBER(10) NOT NULL,
  k1k NUMBER(10) NOT NULL,
  k100 NUMBER(10) NOT NULL,
  k25 NUMBER(10) NOT NULL,
  k10 NUMBER(10) NOT NULL,
  k5 NUMBER(10) NOT NULL,
  k4 NUMBER(10) NOT NULL,
  k2 NUMBER(10) NOT NULL,
  s1 CHAR(8 CHAR) NOT NULL,
  s2 CHAR(20 CHAR) NOT NULL,
  s3 CHAR(20 CHAR) NOT NULL,
  s4 CHAR(20 CHAR) NOT NULL,
  s5 CHAR(20 CHAR) NOT NULL,
  s6 CHAR(20 CHAR) NOT NULL,
  s7 CHAR(20 CHAR) NOT NULL,
  s8 CHAR(20 CHAR) NOT NULL,
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
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'bench');
-- ssd
DROP TABLE tbl_200 PURGE;
CREATE TABLE tbl_200 (
  id VARCHAR2(20 CHAR) NOT NULL,
  seq NUMBER(10) NOT NULL,
  col3 VARCHAR2(16 CHAR) NOT NULL,
  col4 VARCHAR2(5 CHAR) NOT NULL,
  col5 VARCHAR2(50 CHAR) NOT NULL,
  col6 VARCHAR2(1000 CHAR),
  col7 VARCHAR2(300 CHAR) NOT NULL,
  col8 VARCHAR2(150 CHAR),
  col9 TIMESTAMP NOT NULL,
  col10 NUMBER(5) DEFAULT 0 NOT NULL,
  col11 TIMESTAMP NOT NULL,
  col12 VARCHAR2(15 CHAR) NOT NULL,
  col13 CHAR(1 CHAR) NOT NULL,
  col14 CHAR(1 CHAR) NOT NULL,
  col15 TIMESTAMP DEFAULT TIMESTAMP '2010-07-30 16:25:44' NOT NULL,
  PRIMARY KEY (id, seq),
  UNIQUE (id, col3, col4, col5)
);
CREATE INDEX tbl_200_id_col9_desc_col14 ON tbl_200 (id, col9 DESC, col14);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'tbl_200');
-- tpcb
DROP TABLE pgbench_branches PURGE;
CREATE TABLE pgbench_branches (
  bid NUMBER(10) NOT NULL,
  bbalance NUMBER(10),
  filler CHAR(88 CHAR),
  PRIMARY KEY (bid)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'pgbench_branches');
DROP TABLE pgbench_tellers PURGE;
CREATE TABLE pgbench_tellers (
  tid NUMBER(10) NOT NULL,
  bid NUMBER(10),
  tbalance NUMBER(10),
  filler CHAR(84 CHAR),
  PRIMARY KEY (tid)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'pgbench_tellers');
DROP TABLE pgbench_accounts PURGE;
CREATE TABLE pgbench_accounts (
  aid NUMBER(10) NOT NULL,
  bid NUMBER(10),
  abalance NUMBER(10),
  filler CHAR(84 CHAR),
  PRIMARY KEY (aid)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'pgbench_accounts');
DROP TABLE pgbench_history PURGE;
CREATE TABLE pgbench_history (
  tid NUMBER(10),
  bid NUMBER(10),
  aid NUMBER(10),
  delta NUMBER(10),
  mtime TIMESTAMP,
  filler CHAR(22 CHAR)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'pgbench_history');
DROP TABLE branches PURGE;
CREATE TABLE branches (
  bid NUMBER(10) NOT NULL,
  bbalance NUMBER(19) NOT NULL,
  filler CHAR(88 CHAR) NOT NULL,
  PRIMARY KEY (bid)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'branches');
DROP TABLE tellers PURGE;
CREATE TABLE tellers (
  tid NUMBER(10) NOT NULL,
  bid NUMBER(10) NOT NULL,
  tbalance NUMBER(19) NOT NULL,
  filler CHAR(84 CHAR) NOT NULL,
  PRIMARY KEY (tid)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'tellers');
DROP TABLE accounts PURGE;
CREATE TABLE accounts (
  aid NUMBER(10) NOT NULL,
  bid NUMBER(10) NOT NULL,
  abalance NUMBER(19) NOT NULL,
  filler CHAR(84 CHAR) NOT NULL,
  PRIMARY KEY (aid)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'accounts');
DROP TABLE history PURGE;
CREATE TABLE history (
  tid NUMBER(10) NOT NULL,
  bid NUMBER(10) NOT NULL,
  aid NUMBER(10) NOT NULL,
  delta NUMBER(10) NOT NULL,
  mtime TIMESTAMP NOT NULL,
  filler CHAR(28 CHAR) NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'history');
-- tpcc
DROP TABLE item PURGE;
CREATE TABLE item (
  i_id NUMBER(10) NOT NULL,
  i_im_id NUMBER(10) NOT NULL,
  i_name VARCHAR2(24 CHAR) NOT NULL,
  i_price NUMBER(5,2) NOT NULL,
  i_data VARCHAR2(50 CHAR) NOT NULL,
  PRIMARY KEY (i_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'item');
DROP TABLE warehouse PURGE;
CREATE TABLE warehouse (
  w_id NUMBER(10) NOT NULL,
  w_name VARCHAR2(10 CHAR) NOT NULL,
  w_street_1 VARCHAR2(20 CHAR) NOT NULL,
  w_street_2 VARCHAR2(20 CHAR) NOT NULL,
  w_city VARCHAR2(20 CHAR) NOT NULL,
  w_state CHAR(2 CHAR) NOT NULL,
  w_zip CHAR(9 CHAR) NOT NULL,
  w_tax NUMBER(4,4) NOT NULL,
  w_ytd NUMBER(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'warehouse');
DROP TABLE stock PURGE;
CREATE TABLE stock (
  s_i_id NUMBER(10) NOT NULL,
  s_w_id NUMBER(10) NOT NULL,
  s_quantity NUMBER(10) NOT NULL,
  s_dist_01 CHAR(24 CHAR) NOT NULL,
  s_dist_02 CHAR(24 CHAR) NOT NULL,
  s_dist_03 CHAR(24 CHAR) NOT NULL,
  s_dist_04 CHAR(24 CHAR) NOT NULL,
  s_dist_05 CHAR(24 CHAR) NOT NULL,
  s_dist_06 CHAR(24 CHAR) NOT NULL,
  s_dist_07 CHAR(24 CHAR) NOT NULL,
  s_dist_08 CHAR(24 CHAR) NOT NULL,
  s_dist_09 CHAR(24 CHAR) NOT NULL,
  s_dist_10 CHAR(24 CHAR) NOT NULL,
  s_ytd NUMBER(10) NOT NULL,
  s_order_cnt NUMBER(10) NOT NULL,
  s_remote_cnt NUMBER(10) NOT NULL,
  s_data VARCHAR2(50 CHAR) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'stock');
DROP TABLE district PURGE;
CREATE TABLE district (
  d_id NUMBER(10) NOT NULL,
  d_w_id NUMBER(10) NOT NULL,
  d_name VARCHAR2(10 CHAR) NOT NULL,
  d_street_1 VARCHAR2(20 CHAR) NOT NULL,
  d_street_2 VARCHAR2(20 CHAR) NOT NULL,
  d_city VARCHAR2(20 CHAR) NOT NULL,
  d_state CHAR(2 CHAR) NOT NULL,
  d_zip CHAR(9 CHAR) NOT NULL,
  d_tax NUMBER(4,4) NOT NULL,
  d_ytd NUMBER(12,2) NOT NULL,
  d_next_o_id NUMBER(10) NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'district');
DROP TABLE customer PURGE;
CREATE TABLE customer (
  c_id NUMBER(10) NOT NULL,
  c_d_id NUMBER(10) NOT NULL,
  c_w_id NUMBER(10) NOT NULL,
  c_first VARCHAR2(16 CHAR) NOT NULL,
  c_middle CHAR(2 CHAR) NOT NULL,
  c_last VARCHAR2(16 CHAR) NOT NULL,
  c_street_1 VARCHAR2(20 CHAR) NOT NULL,
  c_street_2 VARCHAR2(20 CHAR) NOT NULL,
  c_city VARCHAR2(20 CHAR) NOT NULL,
  c_state CHAR(2 CHAR) NOT NULL,
  c_zip CHAR(9 CHAR) NOT NULL,
  c_phone CHAR(16 CHAR) NOT NULL,
  c_since TIMESTAMP NOT NULL,
  c_credit CHAR(2 CHAR) NOT NULL,
  c_credit_lim NUMBER(12,2) NOT NULL,
  c_discount NUMBER(4,4) NOT NULL,
  c_balance NUMBER(12,2) NOT NULL,
  c_ytd_payment NUMBER(12,2) NOT NULL,
  c_payment_cnt NUMBER(10) NOT NULL,
  c_delivery_cnt NUMBER(10) NOT NULL,
  c_data VARCHAR2(500 CHAR) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'customer');
DROP TABLE history PURGE;
CREATE TABLE history (
  h_c_id NUMBER(10) NOT NULL,
  h_c_d_id NUMBER(10) NOT NULL,
  h_c_w_id NUMBER(10) NOT NULL,
  h_d_id NUMBER(10) NOT NULL,
  h_w_id NUMBER(10) NOT NULL,
  h_date TIMESTAMP NOT NULL,
  h_amount NUMBER(6,2) NOT NULL,
  h_data VARCHAR2(24 CHAR) NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'history');
DROP TABLE orders PURGE;
CREATE TABLE orders (
  o_id NUMBER(10) NOT NULL,
  o_d_id NUMBER(10) NOT NULL,
  o_w_id NUMBER(10) NOT NULL,
  o_c_id NUMBER(10) NOT NULL,
  o_entry_d TIMESTAMP NOT NULL,
  o_carrier_id NUMBER(10),
  o_ol_cnt NUMBER(10) NOT NULL,
  o_all_local NUMBER(10) NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'orders');
DROP TABLE order_line PURGE;
CREATE TABLE order_line (
  ol_o_id NUMBER(10) NOT NULL,
  ol_d_id NUMBER(10) NOT NULL,
  ol_w_id NUMBER(10) NOT NULL,
  ol_number NUMBER(10) NOT NULL,
  ol_i_id NUMBER(10) NOT NULL,
  ol_supply_w_id NUMBER(10) NOT NULL,
  ol_delivery_d TIMESTAMP,
  ol_quantity NUMBER(10) NOT NULL,
  ol_amount NUMBER(6,2) NOT NULL,
  ol_dist_info CHAR(24 CHAR) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'order_line');
DROP TABLE new_order PURGE;
CREATE TABLE new_order (
  no_o_id NUMBER(10) NOT NULL,
  no_d_id NUMBER(10) NOT NULL,
  no_w_id NUMBER(10) NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'new_order');
-- tpch
DROP TABLE region PURGE;
CREATE TABLE region (
  r_regionkey NUMBER(10) NOT NULL,
  r_name VARCHAR2(25 CHAR) NOT NULL,
  r_comment VARCHAR2(152 CHAR) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'region');
DROP TABLE nation PURGE;
CREATE TABLE nation (
  n_nationkey NUMBER(10) NOT NULL,
  n_name VARCHAR2(25 CHAR) NOT NULL,
  n_regionkey NUMBER(10) NOT NULL,
  n_comment VARCHAR2(152 CHAR) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
CREATE INDEX nation_n_regionkey ON nation (n_regionkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'nation');
DROP TABLE supplier PURGE;
CREATE TABLE supplier (
  s_suppkey NUMBER(10) NOT NULL,
  s_name VARCHAR2(25 CHAR) NOT NULL,
  s_address VARCHAR2(40 CHAR) NOT NULL,
  s_nationkey NUMBER(10) NOT NULL,
  s_phone VARCHAR2(15 CHAR) NOT NULL,
  s_acctbal NUMBER(15,2) NOT NULL,
  s_comment VARCHAR2(101 CHAR) NOT NULL,
  PRIMARY KEY (s_suppkey)
);
CREATE INDEX supplier_s_nationkey ON supplier (s_nationkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'supplier');
DROP TABLE customer PURGE;
CREATE TABLE customer (
  c_custkey NUMBER(10) NOT NULL,
  c_name VARCHAR2(25 CHAR) NOT NULL,
  c_address VARCHAR2(40 CHAR) NOT NULL,
  c_nationkey NUMBER(10) NOT NULL,
  c_phone VARCHAR2(15 CHAR) NOT NULL,
  c_acctbal NUMBER(15,2) NOT NULL,
  c_mktsegment VARCHAR2(10 CHAR) NOT NULL,
  c_comment VARCHAR2(117 CHAR) NOT NULL,
  PRIMARY KEY (c_custkey)
);
CREATE INDEX customer_c_nationkey ON customer (c_nationkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'customer');
DROP TABLE part PURGE;
CREATE TABLE part (
  p_partkey NUMBER(10) NOT NULL,
  p_name VARCHAR2(55 CHAR) NOT NULL,
  p_mfgr VARCHAR2(25 CHAR) NOT NULL,
  p_brand VARCHAR2(10 CHAR) NOT NULL,
  p_type VARCHAR2(25 CHAR) NOT NULL,
  p_size NUMBER(10) NOT NULL,
  p_container VARCHAR2(10 CHAR) NOT NULL,
  p_retailprice NUMBER(15,2) NOT NULL,
  p_comment VARCHAR2(23 CHAR) NOT NULL,
  PRIMARY KEY (p_partkey)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'part');
DROP TABLE partsupp PURGE;
CREATE TABLE partsupp (
  ps_partkey NUMBER(10) NOT NULL,
  ps_suppkey NUMBER(10) NOT NULL,
  ps_availqty NUMBER(10) NOT NULL,
  ps_supplycost NUMBER(15,2) NOT NULL,
  ps_comment VARCHAR2(199 CHAR) NOT NULL,
  PRIMARY KEY (ps_partkey, ps_suppkey)
);
CREATE INDEX partsupp_ps_suppkey ON partsupp (ps_suppkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'partsupp');
DROP TABLE orders PURGE;
CREATE TABLE orders (
  o_orderkey NUMBER(19) NOT NULL,
  o_custkey NUMBER(10) NOT NULL,
  o_orderstatus CHAR(1 CHAR) NOT NULL,
  o_totalprice NUMBER(15,2) NOT NULL,
  o_orderdate DATE NOT NULL,
  o_orderpriority VARCHAR2(15 CHAR) NOT NULL,
  o_clerk VARCHAR2(15 CHAR) NOT NULL,
  o_shippriority NUMBER(10) NOT NULL,
  o_comment VARCHAR2(79 CHAR) NOT NULL,
  PRIMARY KEY (o_orderkey)
);
CREATE INDEX orders_o_custkey ON orders (o_custkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'orders');
DROP TABLE lineitem PURGE;
CREATE TABLE lineitem (
  l_orderkey NUMBER(19) NOT NULL,
  l_partkey NUMBER(10) NOT NULL,
  l_suppkey NUMBER(10) NOT NULL,
  l_linenumber NUMBER(10) NOT NULL,
  l_quantity NUMBER(15,2) NOT NULL,
  l_extendedprice NUMBER(15,2) NOT NULL,
  l_discount NUMBER(15,2) NOT NULL,
  l_tax NUMBER(15,2) NOT NULL,
  l_returnflag CHAR(1 CHAR) NOT NULL,
  l_linestatus CHAR(1 CHAR) NOT NULL,
  l_shipdate DATE NOT NULL,
  l_commitdate DATE NOT NULL,
  l_receiptdate DATE NOT NULL,
  l_shipinstruct VARCHAR2(25 CHAR) NOT NULL,
  l_shipmode VARCHAR2(10 CHAR) NOT NULL,
  l_comment VARCHAR2(44 CHAR) NOT NULL,
  PRIMARY KEY (l_orderkey, l_linenumber)
);
CREATE INDEX lineitem_l_partkey_l_suppkey ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_l_suppkey ON lineitem (l_suppkey);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'lineitem');
-- wisconsin
DROP TABLE tenktup1 PURGE;
CREATE TABLE tenktup1 (
  unique1 NUMBER(10) NOT NULL,
  unique2 NUMBER(10) NOT NULL,
  two NUMBER(10) NOT NULL,
  four NUMBER(10) NOT NULL,
  ten NUMBER(10) NOT NULL,
  twenty NUMBER(10) NOT NULL,
  onepercent NUMBER(10) NOT NULL,
  tenpercent NUMBER(10) NOT NULL,
  twentypercent NUMBER(10) NOT NULL,
  fiftypercent NUMBER(10) NOT NULL,
  unique3 NUMBER(10) NOT NULL,
  evenonepercent NUMBER(10) NOT NULL,
  oddonepercent NUMBER(10) NOT NULL,
  stringu1 CHAR(52 CHAR) NOT NULL,
  stringu2 CHAR(52 CHAR) NOT NULL,
  string4 CHAR(52 CHAR) NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'tenktup1');
DROP TABLE onektup PURGE;
CREATE TABLE onektup (
  unique1 NUMBER(10) NOT NULL,
  unique2 NUMBER(10) NOT NULL,
  two NUMBER(10) NOT NULL,
  four NUMBER(10) NOT NULL,
  ten NUMBER(10) NOT NULL,
  twenty NUMBER(10) NOT NULL,
  onepercent NUMBER(10) NOT NULL,
  tenpercent NUMBER(10) NOT NULL,
  twentypercent NUMBER(10) NOT NULL,
  fiftypercent NUMBER(10) NOT NULL,
  unique3 NUMBER(10) NOT NULL,
  evenonepercent NUMBER(10) NOT NULL,
  oddonepercent NUMBER(10) NOT NULL,
  stringu1 CHAR(52 CHAR) NOT NULL,
  stringu2 CHAR(52 CHAR) NOT NULL,
  string4 CHAR(52 CHAR) NOT NULL
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'onektup');
-- ycsb
DROP TABLE usertable PURGE;
CREATE TABLE usertable (
  ycsb_key VARCHAR2(255 CHAR) NOT NULL,
  field0 CLOB,
  field1 CLOB,
  field2 CLOB,
  field3 CLOB,
  field4 CLOB,
  field5 CLOB,
  field6 CLOB,
  field7 CLOB,
  field8 CLOB,
  field9 CLOB,
  PRIMARY KEY (ycsb_key)
);
CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 'usertable');
