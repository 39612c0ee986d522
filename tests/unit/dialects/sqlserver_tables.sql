-- as3ap
DROP TABLE uniques;
CREATE TABLE uniques (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float REAL NOT NULL,
  col_double FLOAT(53) NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date DATETIME2(6) NOT NULL,
  col_code NCHAR(10) NOT NULL,
  col_name NCHAR(20) NOT NULL,
  col_address NVARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
UPDATE STATISTICS uniques;
DROP TABLE updates;
CREATE TABLE updates (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float REAL NOT NULL,
  col_double FLOAT(53) NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date DATETIME2(6) NOT NULL,
  col_code NCHAR(10) NOT NULL,
  col_name NCHAR(20) NOT NULL,
  col_address NVARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
UPDATE STATISTICS updates;
DROP TABLE hundred;
CREATE TABLE hundred (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float REAL NOT NULL,
  col_double FLOAT(53) NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date DATETIME2(6) NOT NULL,
  col_code NCHAR(10) NOT NULL,
  col_name NCHAR(20) NOT NULL,
  col_address NVARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
ALTER TABLE hundred ADD CONSTRAINT hundred_col_signed_fkey FOREIGN KEY (col_signed) REFERENCES updates (col_key);
UPDATE STATISTICS hundred;
DROP TABLE tenpct;
CREATE TABLE tenpct (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT,
  col_float REAL NOT NULL,
  col_double FLOAT(53) NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date DATETIME2(6) NOT NULL,
  col_code NCHAR(10) NOT NULL,
  col_name NCHAR(20) NOT NULL,
  col_address NVARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key, col_code)
);
UPDATE STATISTICS tenpct;
DROP TABLE tiny;
CREATE TABLE tiny (
  col_key INT NOT NULL,
  PRIMARY KEY (col_key)
);
UPDATE STATISTICS tiny;
-- bibsql
DROP TABLE bibtab;
CREATE TABLE bibtab (
  authorcount INT,
  editorcount INT,
  pagecount INT,
  bibtype NVARCHAR(400),
  filename NVARCHAR(400),
  label NVARCHAR(400),
  author NVARCHAR(MAX),
  editor NVARCHAR(400),
  booktitle NVARCHAR(MAX),
  title NVARCHAR(MAX),
  crossref NVARCHAR(MAX),
  chapter NVARCHAR(MAX),
  journal NVARCHAR(400),
  volume NVARCHAR(400),
  type NVARCHAR(MAX),
  number NVARCHAR(400),
  institution NVARCHAR(MAX),
  organization NVARCHAR(MAX),
  publisher NVARCHAR(400),
  school NVARCHAR(MAX),
  address NVARCHAR(MAX),
  edition NVARCHAR(MAX),
  pages NVARCHAR(MAX),
  day NVARCHAR(MAX),
  month NVARCHAR(400),
  monthnumber NVARCHAR(MAX),
  year NVARCHAR(400),
  CODEN NVARCHAR(400),
  DOI NVARCHAR(400),
  ISBN NVARCHAR(400),
  ISBN13 NVARCHAR(400),
  ISSN NVARCHAR(400),
  LCCN NVARCHAR(400),
  MRclass NVARCHAR(MAX),
  MRnumber NVARCHAR(MAX),
  MRreviewer NVARCHAR(MAX),
  bibdate NVARCHAR(400),
  bibsource NVARCHAR(MAX),
  bibtimestamp NVARCHAR(400),
  note NVARCHAR(MAX),
  series NVARCHAR(MAX),
  URL NVARCHAR(MAX),
  abstract NVARCHAR(MAX),
  keywords NVARCHAR(MAX),
  remark NVARCHAR(MAX),
  subject NVARCHAR(MAX),
  TOC NVARCHAR(MAX),
  ZMnumber NVARCHAR(MAX),
  entry NVARCHAR(MAX) NOT NULL
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
UPDATE STATISTICS bibtab;
DROP TABLE strtab;
CREATE TABLE strtab (
  "key" NVARCHAR(MAX),
  value NVARCHAR(MAX),
  entry NVARCHAR(MAX) NOT NULL
);
UPDATE STATISTICS strtab;
DROP TABLE namtab;
CREATE TABLE namtab (
  name NVARCHAR(MAX) NOT NULL,
  count INT
);
UPDATE STATISTICS namtab;
-- chbench
DROP TABLE item;
CREATE TABLE item (
  i_id INT NOT NULL,
  i_im_id INT NOT NULL,
  i_name NVARCHAR(24) NOT NULL,
  i_price DECIMAL(5,2) NOT NULL,
  i_data NVARCHAR(50) NOT NULL,
  PRIMARY KEY (i_id)
);
UPDATE STATISTICS item;
DROP TABLE warehouse;
CREATE TABLE warehouse (
  w_id INT NOT NULL,
  w_name NVARCHAR(10) NOT NULL,
  w_street_1 NVARCHAR(20) NOT NULL,
  w_street_2 NVARCHAR(20) NOT NULL,
  w_city NVARCHAR(20) NOT NULL,
  w_state NCHAR(2) NOT NULL,
  w_zip NCHAR(9) NOT NULL,
  w_tax DECIMAL(4,4) NOT NULL,
  w_ytd DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
UPDATE STATISTICS warehouse;
DROP TABLE stock;
CREATE TABLE stock (
  s_i_id INT NOT NULL,
  s_w_id INT NOT NULL,
  s_quantity INT NOT NULL,
  s_dist_01 NCHAR(24) NOT NULL,
  s_dist_02 NCHAR(24) NOT NULL,
  s_dist_03 NCHAR(24) NOT NULL,
  s_dist_04 NCHAR(24) NOT NULL,
  s_dist_05 NCHAR(24) NOT NULL,
  s_dist_06 NCHAR(24) NOT NULL,
  s_dist_07 NCHAR(24) NOT NULL,
  s_dist_08 NCHAR(24) NOT NULL,
  s_dist_09 NCHAR(24) NOT NULL,
  s_dist_10 NCHAR(24) NOT NULL,
  s_ytd INT NOT NULL,
  s_order_cnt INT NOT NULL,
  s_remote_cnt INT NOT NULL,
  s_data NVARCHAR(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
UPDATE STATISTICS stock;
DROP TABLE district;
CREATE TABLE district (
  d_id INT NOT NULL,
  d_w_id INT NOT NULL,
  d_name NVARCHAR(10) NOT NULL,
  d_street_1 NVARCHAR(20) NOT NULL,
  d_street_2 NVARCHAR(20) NOT NULL,
  d_city NVARCHAR(20) NOT NULL,
  d_state NCHAR(2) NOT NULL,
  d_zip NCHAR(9) NOT NULL,
  d_tax DECIMAL(4,4) NOT NULL,
  d_ytd DECIMAL(12,2) NOT NULL,
  d_next_o_id INT NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
UPDATE STATISTICS district;
DROP TABLE customer;
CREATE TABLE customer (
  c_id INT NOT NULL,
  c_d_id INT NOT NULL,
  c_w_id INT NOT NULL,
  c_first NVARCHAR(16) NOT NULL,
  c_middle NCHAR(2) NOT NULL,
  c_last NVARCHAR(16) NOT NULL,
  c_street_1 NVARCHAR(20) NOT NULL,
  c_street_2 NVARCHAR(20) NOT NULL,
  c_city NVARCHAR(20) NOT NULL,
  c_state NCHAR(2) NOT NULL,
  c_zip NCHAR(9) NOT NULL,
  c_phone NCHAR(16) NOT NULL,
  c_since DATETIME2(6) NOT NULL,
  c_credit NCHAR(2) NOT NULL,
  c_credit_lim DECIMAL(12,2) NOT NULL,
  c_discount DECIMAL(4,4) NOT NULL,
  c_balance DECIMAL(12,2) NOT NULL,
  c_ytd_payment DECIMAL(12,2) NOT NULL,
  c_payment_cnt INT NOT NULL,
  c_delivery_cnt INT NOT NULL,
  c_data NVARCHAR(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
UPDATE STATISTICS customer;
DROP TABLE history;
CREATE TABLE history (
  h_c_id INT NOT NULL,
  h_c_d_id INT NOT NULL,
  h_c_w_id INT NOT NULL,
  h_d_id INT NOT NULL,
  h_w_id INT NOT NULL,
  h_date DATETIME2(6) NOT NULL,
  h_amount DECIMAL(6,2) NOT NULL,
  h_data NVARCHAR(24) NOT NULL
);
UPDATE STATISTICS history;
DROP TABLE orders;
CREATE TABLE orders (
  o_id INT NOT NULL,
  o_d_id INT NOT NULL,
  o_w_id INT NOT NULL,
  o_c_id INT NOT NULL,
  o_entry_d DATETIME2(6) NOT NULL,
  o_carrier_id INT,
  o_ol_cnt INT NOT NULL,
  o_all_local INT NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
UPDATE STATISTICS orders;
DROP TABLE order_line;
CREATE TABLE order_line (
  ol_o_id INT NOT NULL,
  ol_d_id INT NOT NULL,
  ol_w_id INT NOT NULL,
  ol_number INT NOT NULL,
  ol_i_id INT NOT NULL,
  ol_supply_w_id INT NOT NULL,
  ol_delivery_d DATETIME2(6),
  ol_quantity INT NOT NULL,
  ol_amount DECIMAL(6,2) NOT NULL,
  ol_dist_info NCHAR(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
UPDATE STATISTICS order_line;
DROP TABLE new_order;
CREATE TABLE new_order (
  no_o_id INT NOT NULL,
  no_d_id INT NOT NULL,
  no_w_id INT NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
UPDATE STATISTICS new_order;
DROP TABLE region;
CREATE TABLE region (
  r_regionkey INT NOT NULL,
  r_name NVARCHAR(55) NOT NULL,
  r_comment NVARCHAR(152) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
UPDATE STATISTICS region;
DROP TABLE nation;
CREATE TABLE nation (
  n_nationkey INT NOT NULL,
  n_name NVARCHAR(25) NOT NULL,
  n_regionkey INT NOT NULL,
  n_comment NVARCHAR(152) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
UPDATE STATISTICS nation;
DROP TABLE supplier;
CREATE TABLE supplier (
  su_suppkey INT NOT NULL,
  su_name NVARCHAR(25) NOT NULL,
  su_address NVARCHAR(40) NOT NULL,
  su_nationkey INT NOT NULL,
  su_phone NVARCHAR(15) NOT NULL,
  su_acctbal DECIMAL(12,2) NOT NULL,
  su_comment NVARCHAR(101) NOT NULL,
  PRIMARY KEY (su_suppkey)
);
CREATE INDEX supplier_su_nationkey ON supplier (su_nationkey);
UPDATE STATISTICS supplier;
-- e831
DROP TABLE data;
CREATE TABLE data (
  name NCHAR(16) NOT NULL,
  start INT NOT NULL,
  exp INT NOT NULL,
  val INT NOT NULL,
  lo INT NOT NULL,
  hi INT NOT NULL
);
UPDATE STATISTICS data;
-- glidemon
DROP TABLE users;
CREATE TABLE users (
  user_id INT NOT NULL,
  name NVARCHAR(32) NOT NULL,
  dn NVARCHAR(120) NOT NULL,
  PRIMARY KEY (user_id),
  UNIQUE (name)
);
UPDATE STATISTICS users;
DROP TABLE sites;
CREATE TABLE sites (
  site_id INT NOT NULL,
  name NVARCHAR(32) NOT NULL,
  PRIMARY KEY (site_id)
);
UPDATE STATISTICS sites;
DROP TABLE states;
CREATE TABLE states (
  state_id INT NOT NULL,
  name NVARCHAR(16) NOT NULL,
  PRIMARY KEY (state_id)
);
UPDATE STATISTICS states;
DROP TABLE tasks;
CREATE TABLE tasks (
  task_id INT NOT NULL,
  user_id INT NOT NULL,
  name NVARCHAR(64) NOT NULL,
  type NVARCHAR(10) NOT NULL,
  n_jobs INT NOT NULL,
  first_job_id BIGINT NOT NULL,
  created DATETIME2(6) NOT NULL,
  updated DATETIME2(6) NOT NULL,
  tool NVARCHAR(16) NOT NULL,
  dataset NVARCHAR(80) NOT NULL,
  PRIMARY KEY (task_id),
  UNIQUE (name)
);
CREATE INDEX tasks_user_id_updated ON tasks (user_id, updated);
CREATE INDEX tasks_type_created ON tasks (type, created);
ALTER TABLE tasks ADD CONSTRAINT tasks_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (user_id);
UPDATE STATISTICS tasks;
DROP TABLE jobs;
CREATE TABLE jobs (
  job_id BIGINT NOT NULL,
  task_id INT NOT NULL,
  job_index INT NOT NULL,
  last_update DATETIME2(6) NOT NULL,
  state_id INT NOT NULL,
  site_id INT NOT NULL,
  submit_time DATETIME2(6) NOT NULL,
  start_time DATETIME2(6),
  end_time DATETIME2(6),
  exit_code INT,
  retries INT NOT NULL,
  log_url NVARCHAR(120) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE (task_id, job_index)
);
CREATE INDEX jobs_last_update ON jobs (last_update);
CREATE INDEX jobs_task_id_state_id ON jobs (task_id, state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_task_id_fkey FOREIGN KEY (task_id) REFERENCES tasks (task_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_state_id_fkey FOREIGN KEY (state_id) REFERENCES states (state_id);
ALTER TABLE jobs ADD CONSTRAINT jobs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites (site_id);
UPDATE STATISTICS jobs;
DROP TABLE task_summary;
CREATE TABLE task_summary (
  task_id INT NOT NULL,
  state_id INT NOT NULL,
  jobs INT NOT NULL,
  PRIMARY KEY (task_id, state_id)
);
UPDATE STATISTICS task_summary;
DROP TABLE user_summary;
CREATE TABLE user_summary (
  user_id INT NOT NULL,
  state_id INT NOT NULL,
  jobs INT NOT NULL,
  PRIMARY KEY (user_id, state_id)
);
UPDATE STATISTICS user_summary;
-- oltp
DROP TABLE sbtest1;
CREATE TABLE sbtest1 (
  id INT NOT NULL,
  k INT DEFAULT 0 NOT NULL,
  c NCHAR(120) DEFAULT N'' NOT NULL,
  pad NCHAR(60) DEFAULT N'' NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX sbtest1_k ON sbtest1 (k);
UPDATE STATISTICS sbtest1;
-- scalable-hardware
DROP TABLE updates;
CREATE TABLE updates (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT NOT NULL,
  col_float REAL NOT NULL,
  col_double FLOAT(53) NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date DATETIME2(6) NOT NULL,
  col_code NCHAR(10) NOT NULL,
  col_name NCHAR(20) NOT NULL,
  col_address NVARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
CREATE INDEX updates_col_code ON updates (col_code);
UPDATE STATISTICS updates;
DROP TABLE hundred;
CREATE TABLE hundred (
  col_key INT NOT NULL,
  col_int INT NOT NULL,
  col_signed INT NOT NULL,
  col_float REAL NOT NULL,
  col_double FLOAT(53) NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date DATETIME2(6) NOT NULL,
  col_code NCHAR(10) NOT NULL,
  col_name NCHAR(20) NOT NULL,
  col_address NVARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
UPDATE STATISTICS hundred;
-- setquery
DROP TABLE bench;
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
  s1 NCHAR(8) NOT NULL,
  s2 NCHAR(20) NOT NULL,
  s3 NCHAR(20) NOT NULL,
  s4 NCHAR(20) NOT NULL,
  s5 NCHAR(20) NOT NULL,
  s6 NCHAR(20) NOT NULL,
  s7 NCHAR(20) NOT NULL,
  s8 NCHAR(20) NOT NULL,
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
UPDATE STATISTICS bench;
-- ssd
DROP TABLE tbl_200;
CREATE TABLE tbl_200 (
  id NVARCHAR(20) NOT NULL,
  seq INT NOT NULL,
  col3 NVARCHAR(16) NOT NULL,
  col4 NVARCHAR(5) NOT NULL,
  col5 NVARCHAR(50) NOT NULL,
  col6 NVARCHAR(1000),
  col7 NVARCHAR(300) NOT NULL,
  col8 NVARCHAR(150),
  col9 DATETIME2(6) NOT NULL,
  col10 SMALLINT DEFAULT 0 NOT NULL,
  col11 DATETIME2(6) NOT NULL,
  col12 NVARCHAR(15) NOT NULL,
  col13 NCHAR(1) NOT NULL,
  col14 NCHAR(1) NOT NULL,
  col15 DATETIME2(6) DEFAULT N'2010-07-30 16:25:44' NOT NULL,
  PRIMARY KEY (id, seq),
  UNIQUE (id, col3, col4, col5)
);
CREATE INDEX tbl_200_id_col9_desc_col14 ON tbl_200 (id, col9 DESC, col14);
UPDATE STATISTICS tbl_200;
-- tpcb
DROP TABLE pgbench_branches;
CREATE TABLE pgbench_branches (
  bid INT NOT NULL,
  bbalance INT,
  filler NCHAR(88),
  PRIMARY KEY (bid)
);
UPDATE STATISTICS pgbench_branches;
DROP TABLE pgbench_tellers;
CREATE TABLE pgbench_tellers (
  tid INT NOT NULL,
  bid INT,
  tbalance INT,
  filler NCHAR(84),
  PRIMARY KEY (tid)
);
UPDATE STATISTICS pgbench_tellers;
DROP TABLE pgbench_accounts;
CREATE TABLE pgbench_accounts (
  aid INT NOT NULL,
  bid INT,
  abalance INT,
  filler NCHAR(84),
  PRIMARY KEY (aid)
);
UPDATE STATISTICS pgbench_accounts;
DROP TABLE pgbench_history;
CREATE TABLE pgbench_history (
  tid INT,
  bid INT,
  aid INT,
  delta INT,
  mtime DATETIME2(6),
  filler NCHAR(22)
);
UPDATE STATISTICS pgbench_history;
DROP TABLE branches;
CREATE TABLE branches (
  bid INT NOT NULL,
  bbalance BIGINT NOT NULL,
  filler NCHAR(88) NOT NULL,
  PRIMARY KEY (bid)
);
UPDATE STATISTICS branches;
DROP TABLE tellers;
CREATE TABLE tellers (
  tid INT NOT NULL,
  bid INT NOT NULL,
  tbalance BIGINT NOT NULL,
  filler NCHAR(84) NOT NULL,
  PRIMARY KEY (tid)
);
UPDATE STATISTICS tellers;
DROP TABLE accounts;
CREATE TABLE accounts (
  aid INT NOT NULL,
  bid INT NOT NULL,
  abalance BIGINT NOT NULL,
  filler NCHAR(84) NOT NULL,
  PRIMARY KEY (aid)
);
UPDATE STATISTICS accounts;
DROP TABLE history;
CREATE TABLE history (
  tid INT NOT NULL,
  bid INT NOT NULL,
  aid INT NOT NULL,
  delta INT NOT NULL,
  mtime DATETIME2(6) NOT NULL,
  filler NCHAR(28) NOT NULL
);
UPDATE STATISTICS history;
-- tpcc
DROP TABLE item;
CREATE TABLE item (
  i_id INT NOT NULL,
  i_im_id INT NOT NULL,
  i_name NVARCHAR(24) NOT NULL,
  i_price DECIMAL(5,2) NOT NULL,
  i_data NVARCHAR(50) NOT NULL,
  PRIMARY KEY (i_id)
);
UPDATE STATISTICS item;
DROP TABLE warehouse;
CREATE TABLE warehouse (
  w_id INT NOT NULL,
  w_name NVARCHAR(10) NOT NULL,
  w_street_1 NVARCHAR(20) NOT NULL,
  w_street_2 NVARCHAR(20) NOT NULL,
  w_city NVARCHAR(20) NOT NULL,
  w_state NCHAR(2) NOT NULL,
  w_zip NCHAR(9) NOT NULL,
  w_tax DECIMAL(4,4) NOT NULL,
  w_ytd DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
UPDATE STATISTICS warehouse;
DROP TABLE stock;
CREATE TABLE stock (
  s_i_id INT NOT NULL,
  s_w_id INT NOT NULL,
  s_quantity INT NOT NULL,
  s_dist_01 NCHAR(24) NOT NULL,
  s_dist_02 NCHAR(24) NOT NULL,
  s_dist_03 NCHAR(24) NOT NULL,
  s_dist_04 NCHAR(24) NOT NULL,
  s_dist_05 NCHAR(24) NOT NULL,
  s_dist_06 NCHAR(24) NOT NULL,
  s_dist_07 NCHAR(24) NOT NULL,
  s_dist_08 NCHAR(24) NOT NULL,
  s_dist_09 NCHAR(24) NOT NULL,
  s_dist_10 NCHAR(24) NOT NULL,
  s_ytd INT NOT NULL,
  s_order_cnt INT NOT NULL,
  s_remote_cnt INT NOT NULL,
  s_data NVARCHAR(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
UPDATE STATISTICS stock;
DROP TABLE district;
CREATE TABLE district (
  d_id INT NOT NULL,
  d_w_id INT NOT NULL,
  d_name NVARCHAR(10) NOT NULL,
  d_street_1 NVARCHAR(20) NOT NULL,
  d_street_2 NVARCHAR(20) NOT NULL,
  d_city NVARCHAR(20) NOT NULL,
  d_state NCHAR(2) NOT NULL,
  d_zip NCHAR(9) NOT NULL,
  d_tax DECIMAL(4,4) NOT NULL,
  d_ytd DECIMAL(12,2) NOT NULL,
  d_next_o_id INT NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
UPDATE STATISTICS district;
DROP TABLE customer;
CREATE TABLE customer (
  c_id INT NOT NULL,
  c_d_id INT NOT NULL,
  c_w_id INT NOT NULL,
  c_first NVARCHAR(16) NOT NULL,
  c_middle NCHAR(2) NOT NULL,
  c_last NVARCHAR(16) NOT NULL,
  c_street_1 NVARCHAR(20) NOT NULL,
  c_street_2 NVARCHAR(20) NOT NULL,
  c_city NVARCHAR(20) NOT NULL,
  c_state NCHAR(2) NOT NULL,
  c_zip NCHAR(9) NOT NULL,
  c_phone NCHAR(16) NOT NULL,
  c_since DATETIME2(6) NOT NULL,
  c_credit NCHAR(2) NOT NULL,
  c_credit_lim DECIMAL(12,2) NOT NULL,
  c_discount DECIMAL(4,4) NOT NULL,
  c_balance DECIMAL(12,2) NOT NULL,
  c_ytd_payment DECIMAL(12,2) NOT NULL,
  c_payment_cnt INT NOT NULL,
  c_delivery_cnt INT NOT NULL,
  c_data NVARCHAR(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
UPDATE STATISTICS customer;
DROP TABLE history;
CREATE TABLE history (
  h_c_id INT NOT NULL,
  h_c_d_id INT NOT NULL,
  h_c_w_id INT NOT NULL,
  h_d_id INT NOT NULL,
  h_w_id INT NOT NULL,
  h_date DATETIME2(6) NOT NULL,
  h_amount DECIMAL(6,2) NOT NULL,
  h_data NVARCHAR(24) NOT NULL
);
UPDATE STATISTICS history;
DROP TABLE orders;
CREATE TABLE orders (
  o_id INT NOT NULL,
  o_d_id INT NOT NULL,
  o_w_id INT NOT NULL,
  o_c_id INT NOT NULL,
  o_entry_d DATETIME2(6) NOT NULL,
  o_carrier_id INT,
  o_ol_cnt INT NOT NULL,
  o_all_local INT NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
UPDATE STATISTICS orders;
DROP TABLE order_line;
CREATE TABLE order_line (
  ol_o_id INT NOT NULL,
  ol_d_id INT NOT NULL,
  ol_w_id INT NOT NULL,
  ol_number INT NOT NULL,
  ol_i_id INT NOT NULL,
  ol_supply_w_id INT NOT NULL,
  ol_delivery_d DATETIME2(6),
  ol_quantity INT NOT NULL,
  ol_amount DECIMAL(6,2) NOT NULL,
  ol_dist_info NCHAR(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
UPDATE STATISTICS order_line;
DROP TABLE new_order;
CREATE TABLE new_order (
  no_o_id INT NOT NULL,
  no_d_id INT NOT NULL,
  no_w_id INT NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
UPDATE STATISTICS new_order;
-- tpch
DROP TABLE region;
CREATE TABLE region (
  r_regionkey INT NOT NULL,
  r_name NVARCHAR(25) NOT NULL,
  r_comment NVARCHAR(152) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
UPDATE STATISTICS region;
DROP TABLE nation;
CREATE TABLE nation (
  n_nationkey INT NOT NULL,
  n_name NVARCHAR(25) NOT NULL,
  n_regionkey INT NOT NULL,
  n_comment NVARCHAR(152) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
CREATE INDEX nation_n_regionkey ON nation (n_regionkey);
UPDATE STATISTICS nation;
DROP TABLE supplier;
CREATE TABLE supplier (
  s_suppkey INT NOT NULL,
  s_name NVARCHAR(25) NOT NULL,
  s_address NVARCHAR(40) NOT NULL,
  s_nationkey INT NOT NULL,
  s_phone NVARCHAR(15) NOT NULL,
  s_acctbal DECIMAL(15,2) NOT NULL,
  s_comment NVARCHAR(101) NOT NULL,
  PRIMARY KEY (s_suppkey)
);
CREATE INDEX supplier_s_nationkey ON supplier (s_nationkey);
UPDATE STATISTICS supplier;
DROP TABLE customer;
CREATE TABLE customer (
  c_custkey INT NOT NULL,
  c_name NVARCHAR(25) NOT NULL,
  c_address NVARCHAR(40) NOT NULL,
  c_nationkey INT NOT NULL,
  c_phone NVARCHAR(15) NOT NULL,
  c_acctbal DECIMAL(15,2) NOT NULL,
  c_mktsegment NVARCHAR(10) NOT NULL,
  c_comment NVARCHAR(117) NOT NULL,
  PRIMARY KEY (c_custkey)
);
CREATE INDEX customer_c_nationkey ON customer (c_nationkey);
UPDATE STATISTICS customer;
DROP TABLE part;
CREATE TABLE part (
  p_partkey INT NOT NULL,
  p_name NVARCHAR(55) NOT NULL,
  p_mfgr NVARCHAR(25) NOT NULL,
  p_brand NVARCHAR(10) NOT NULL,
  p_type NVARCHAR(25) NOT NULL,
  p_size INT NOT NULL,
  p_container NVARCHAR(10) NOT NULL,
  p_retailprice DECIMAL(15,2) NOT NULL,
  p_comment NVARCHAR(23) NOT NULL,
  PRIMARY KEY (p_partkey)
);
UPDATE STATISTICS part;
DROP TABLE partsupp;
CREATE TABLE partsupp (
  ps_partkey INT NOT NULL,
  ps_suppkey INT NOT NULL,
  ps_availqty INT NOT NULL,
  ps_supplycost DECIMAL(15,2) NOT NULL,
  ps_comment NVARCHAR(199) NOT NULL,
  PRIMARY KEY (ps_partkey, ps_suppkey)
);
CREATE INDEX partsupp_ps_suppkey ON partsupp (ps_suppkey);
UPDATE STATISTICS partsupp;
DROP TABLE orders;
CREATE TABLE orders (
  o_orderkey BIGINT NOT NULL,
  o_custkey INT NOT NULL,
  o_orderstatus NCHAR(1) NOT NULL,
  o_totalprice DECIMAL(15,2) NOT NULL,
  o_orderdate DATE NOT NULL,
  o_orderpriority NVARCHAR(15) NOT NULL,
  o_clerk NVARCHAR(15) NOT NULL,
  o_shippriority INT NOT NULL,
  o_comment NVARCHAR(79) NOT NULL,
  PRIMARY KEY (o_orderkey)
);
CREATE INDEX orders_o_custkey ON orders (o_custkey);
UPDATE STATISTICS orders;
DROP TABLE lineitem;
CREATE TABLE lineitem (
  l_orderkey BIGINT NOT NULL,
  l_partkey INT NOT NULL,
  l_suppkey INT NOT NULL,
  l_linenumber INT NOT NULL,
  l_quantity DECIMAL(15,2) NOT NULL,
  l_extendedprice DECIMAL(15,2) NOT NULL,
  l_discount DECIMAL(15,2) NOT NULL,
  l_tax DECIMAL(15,2) NOT NULL,
  l_returnflag NCHAR(1) NOT NULL,
  l_linestatus NCHAR(1) NOT NULL,
  l_shipdate DATE NOT NULL,
  l_commitdate DATE NOT NULL,
  l_receiptdate DATE NOT NULL,
  l_shipinstruct NVARCHAR(25) NOT NULL,
  l_shipmode NVARCHAR(10) NOT NULL,
  l_comment NVARCHAR(44) NOT NULL,
  PRIMARY KEY (l_orderkey, l_linenumber)
);
CREATE INDEX lineitem_l_partkey_l_suppkey ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_l_suppkey ON lineitem (l_suppkey);
UPDATE STATISTICS lineitem;
-- wisconsin
DROP TABLE tenktup1;
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
  stringu1 NCHAR(52) NOT NULL,
  stringu2 NCHAR(52) NOT NULL,
  string4 NCHAR(52) NOT NULL
);
UPDATE STATISTICS tenktup1;
DROP TABLE onektup;
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
  stringu1 NCHAR(52) NOT NULL,
  stringu2 NCHAR(52) NOT NULL,
  string4 NCHAR(52) NOT NULL
);
UPDATE STATISTICS onektup;
-- ycsb
DROP TABLE usertable;
CREATE TABLE usertable (
  ycsb_key NVARCHAR(255) NOT NULL,
  field0 NVARCHAR(MAX),
  field1 NVARCHAR(MAX),
  field2 NVARCHAR(MAX),
  field3 NVARCHAR(MAX),
  field4 NVARCHAR(MAX),
  field5 NVARCHAR(MAX),
  field6 NVARCHAR(MAX),
  field7 NVARCHAR(MAX),
  field8 NVARCHAR(MAX),
  field9 NVARCHAR(MAX),
  PRIMARY KEY (ycsb_key)
);
UPDATE STATISTICS usertable;
