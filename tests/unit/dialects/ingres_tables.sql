-- as3ap
DROP TABLE uniques;
CREATE TABLE uniques (
  col_key INTEGER NOT NULL,
  col_int INTEGER NOT NULL,
  col_signed INTEGER,
  col_float REAL NOT NULL,
  col_double DOUBLE PRECISION NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
DROP TABLE updates;
CREATE TABLE updates (
  col_key INTEGER NOT NULL,
  col_int INTEGER NOT NULL,
  col_signed INTEGER,
  col_float REAL NOT NULL,
  col_double DOUBLE PRECISION NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
DROP TABLE hundred;
CREATE TABLE hundred (
  col_key INTEGER NOT NULL,
  col_int INTEGER NOT NULL,
  col_signed INTEGER,
  col_float REAL NOT NULL,
  col_double DOUBLE PRECISION NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
ALTER TABLE hundred ADD CONSTRAINT hundred_col_signed_fkey FOREIGN KEY (col_signed) REFERENCES updates (col_key);
DROP TABLE tenpct;
CREATE TABLE tenpct (
  col_key INTEGER NOT NULL,
  col_int INTEGER NOT NULL,
  col_signed INTEGER,
  col_float REAL NOT NULL,
  col_double DOUBLE PRECISION NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key, col_code)
);
DROP TABLE tiny;
CREATE TABLE tiny (
  col_key INTEGER NOT NULL,
  PRIMARY KEY (col_key)
);
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
-- chbench
DROP TABLE item;
CREATE TABLE item (
  i_id INTEGER NOT NULL,
  i_im_id INTEGER NOT NULL,
  i_name VARCHAR(24) NOT NULL,
  i_price DECIMAL(5,2) NOT NULL,
  i_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (i_id)
);
DROP TABLE warehouse;
CREATE TABLE warehouse (
  w_id INTEGER NOT NULL,
  w_name VARCHAR(10) NOT NULL,
  w_street_1 VARCHAR(20) NOT NULL,
  w_street_2 VARCHAR(20) NOT NULL,
  w_city VARCHAR(20) NOT NULL,
  w_state CHAR(2) NOT NULL,
  w_zip CHAR(9) NOT NULL,
  w_tax DECIMAL(4,4) NOT NULL,
  w_ytd DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
DROP TABLE stock;
CREATE TABLE stock (
  s_i_id INTEGER NOT NULL,
  s_w_id INTEGER NOT NULL,
  s_quantity INTEGER NOT NULL,
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
  s_ytd INTEGER NOT NULL,
  s_order_cnt INTEGER NOT NULL,
  s_remote_cnt INTEGER NOT NULL,
  s_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
DROP TABLE district;
CREATE TABLE district (
  d_id INTEGER NOT NULL,
  d_w_id INTEGER NOT NULL,
  d_name VARCHAR(10) NOT NULL,
  d_street_1 VARCHAR(20) NOT NULL,
  d_street_2 VARCHAR(20) NOT NULL,
  d_city VARCHAR(20) NOT NULL,
  d_state CHAR(2) NOT NULL,
  d_zip CHAR(9) NOT NULL,
  d_tax DECIMAL(4,4) NOT NULL,
  d_ytd DECIMAL(12,2) NOT NULL,
  d_next_o_id INTEGER NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
DROP TABLE customer;
CREATE TABLE customer (
  c_id INTEGER NOT NULL,
  c_d_id INTEGER NOT NULL,
  c_w_id INTEGER NOT NULL,
  c_first VARCHAR(16) NOT NULL,
  c_middle CHAR(2) NOT NULL,
  c_last VARCHAR(16) NOT NULL,
  c_street_1 VARCHAR(20) NOT NULL,
  c_street_2 VARCHAR(20) NOT NULL,
  c_city VARCHAR(20) NOT NULL,
  c_state CHAR(2) NOT NULL,
  c_zip CHAR(9) NOT NULL,
  c_phone CHAR(16) NOT NULL,
  c_since TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  c_credit CHAR(2) NOT NULL,
  c_credit_lim DECIMAL(12,2) NOT NULL,
  c_discount DECIMAL(4,4) NOT NULL,
  c_balance DECIMAL(12,2) NOT NULL,
  c_ytd_payment DECIMAL(12,2) NOT NULL,
  c_payment_cnt INTEGER NOT NULL,
  c_delivery_cnt INTEGER NOT NULL,
  c_data VARCHAR(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
DROP TABLE history;
CREATE TABLE history (
  h_c_id INTEGER NOT NULL,
  h_c_d_id INTEGER NOT NULL,
  h_c_w_id INTEGER NOT NULL,
  h_d_id INTEGER NOT NULL,
  h_w_id INTEGER NOT NULL,
  h_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  h_amount DECIMAL(6,2) NOT NULL,
  h_data VARCHAR(24) NOT NULL
);
DROP TABLE orders;
CREATE TABLE orders (
  o_id INTEGER NOT NULL,
  o_d_id INTEGER NOT NULL,
  o_w_id INTEGER NOT NULL,
  o_c_id INTEGER NOT NULL,
  o_entry_d TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  o_carrier_id INTEGER,
  o_ol_cnt INTEGER NOT NULL,
  o_all_local INTEGER NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
DROP TABLE order_line;
CREATE TABLE order_line (
  ol_o_id INTEGER NOT NULL,
  ol_d_id INTEGER NOT NULL,
  ol_w_id INTEGER NOT NULL,
  ol_number INTEGER NOT NULL,
  ol_i_id INTEGER NOT NULL,
  ol_supply_w_id INTEGER NOT NULL,
  ol_delivery_d TIMESTAMP(6) WITHOUT TIME ZONE,
  ol_quantity INTEGER NOT NULL,
  ol_amount DECIMAL(6,2) NOT NULL,
  ol_dist_info CHAR(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
DROP TABLE new_order;
CREATE TABLE new_order (
  no_o_id INTEGER NOT NULL,
  no_d_id INTEGER NOT NULL,
  no_w_id INTEGER NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
DROP TABLE region;
CREATE TABLE region (
  r_regionkey INTEGER NOT NULL,
  r_name VARCHAR(55) NOT NULL,
  r_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
DROP TABLE nation;
CREATE TABLE nation (
  n_nationkey INTEGER NOT NULL,
  n_name VARCHAR(25) NOT NULL,
  n_regionkey INTEGER NOT NULL,
  n_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
DROP TABLE supplier;
CREATE TABLE supplier (
  su_suppkey INTEGER NOT NULL,
  su_name VARCHAR(25) NOT NULL,
  su_address VARCHAR(40) NOT NULL,
  su_nationkey INTEGER NOT NULL,
  su_phone VARCHAR(15) NOT NULL,
  su_acctbal DECIMAL(12,2) NOT NULL,
  su_comment VARCHAR(101) NOT NULL,
  PRIMARY KEY (su_suppkey)
);
CREATE INDEX supplier_su_nationkey ON supplier (su_nationkey);
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
-- oltp
DROP TABLE sbtest1;
CREATE TABLE sbtest1 (
  id INTEGER NOT NULL,
  k INTEGER DEFAULT 0 NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX sbtest1_k ON sbtest1 (k);
-- scalable-hardware
DROP TABLE updates;
CREATE TABLE updates (
  col_key INTEGER NOT NULL,
  col_int INTEGER NOT NULL,
  col_signed INTEGER NOT NULL,
  col_float REAL NOT NULL,
  col_double DOUBLE PRECISION NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
CREATE INDEX updates_col_code ON updates (col_code);
DROP TABLE hundred;
CREATE TABLE hundred (
  col_key INTEGER NOT NULL,
  col_int INTEGER NOT NULL,
  col_signed INTEGER NOT NULL,
  col_float REAL NOT NULL,
  col_double DOUBLE PRECISION NOT NULL,
  col_decim DECIMAL(18,2) NOT NULL,
  col_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  col_code CHAR(10) NOT NULL,
  col_name CHAR(20) NOT NULL,
  col_address VARCHAR(80) NOT NULL,
  PRIMARY KEY (col_key)
);
-- setquery
DROP TABLE bench;
CREATE TABLE bench (
  kseq INTEGER NOT NULL,
  k500k INTEGER NOT NULL,
  k250k INTEGER NOT NULL,
  k100k INTEGER NOT NULL,
  k40k INTEGER NOT NULL,
  k10k INTEGER NOT NULL,
  k1k INTEGER NOT NULL,
  k100 INTEGER NOT NULL,
  k25 INTEGER NOT NULL,
  k10 INTEGER NOT NULL,
  k5 INTEGER NOT NULL,
  k4 INTEGER NOT NULL,
  k2 INTEGER NOT NULL,
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
-- tpcc
DROP TABLE item;
CREATE TABLE item (
  i_id INTEGER NOT NULL,
  i_im_id INTEGER NOT NULL,
  i_name VARCHAR(24) NOT NULL,
  i_price DECIMAL(5,2) NOT NULL,
  i_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (i_id)
);
DROP TABLE warehouse;
CREATE TABLE warehouse (
  w_id INTEGER NOT NULL,
  w_name VARCHAR(10) NOT NULL,
  w_street_1 VARCHAR(20) NOT NULL,
  w_street_2 VARCHAR(20) NOT NULL,
  w_city VARCHAR(20) NOT NULL,
  w_state CHAR(2) NOT NULL,
  w_zip CHAR(9) NOT NULL,
  w_tax DECIMAL(4,4) NOT NULL,
  w_ytd DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
DROP TABLE stock;
CREATE TABLE stock (
  s_i_id INTEGER NOT NULL,
  s_w_id INTEGER NOT NULL,
  s_quantity INTEGER NOT NULL,
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
  s_ytd INTEGER NOT NULL,
  s_order_cnt INTEGER NOT NULL,
  s_remote_cnt INTEGER NOT NULL,
  s_data VARCHAR(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
DROP TABLE district;
CREATE TABLE district (
  d_id INTEGER NOT NULL,
  d_w_id INTEGER NOT NULL,
  d_name VARCHAR(10) NOT NULL,
  d_street_1 VARCHAR(20) NOT NULL,
  d_street_2 VARCHAR(20) NOT NULL,
  d_city VARCHAR(20) NOT NULL,
  d_state CHAR(2) NOT NULL,
  d_zip CHAR(9) NOT NULL,
  d_tax DECIMAL(4,4) NOT NULL,
  d_ytd DECIMAL(12,2) NOT NULL,
  d_next_o_id INTEGER NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
DROP TABLE customer;
CREATE TABLE customer (
  c_id INTEGER NOT NULL,
  c_d_id INTEGER NOT NULL,
  c_w_id INTEGER NOT NULL,
  c_first VARCHAR(16) NOT NULL,
  c_middle CHAR(2) NOT NULL,
  c_last VARCHAR(16) NOT NULL,
  c_street_1 VARCHAR(20) NOT NULL,
  c_street_2 VARCHAR(20) NOT NULL,
  c_city VARCHAR(20) NOT NULL,
  c_state CHAR(2) NOT NULL,
  c_zip CHAR(9) NOT NULL,
  c_phone CHAR(16) NOT NULL,
  c_since TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  c_credit CHAR(2) NOT NULL,
  c_credit_lim DECIMAL(12,2) NOT NULL,
  c_discount DECIMAL(4,4) NOT NULL,
  c_balance DECIMAL(12,2) NOT NULL,
  c_ytd_payment DECIMAL(12,2) NOT NULL,
  c_payment_cnt INTEGER NOT NULL,
  c_delivery_cnt INTEGER NOT NULL,
  c_data VARCHAR(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE INDEX customer_c_w_id_c_d_id_c_last_c_first ON customer (c_w_id, c_d_id, c_last, c_first);
DROP TABLE history;
CREATE TABLE history (
  h_c_id INTEGER NOT NULL,
  h_c_d_id INTEGER NOT NULL,
  h_c_w_id INTEGER NOT NULL,
  h_d_id INTEGER NOT NULL,
  h_w_id INTEGER NOT NULL,
  h_date TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  h_amount DECIMAL(6,2) NOT NULL,
  h_data VARCHAR(24) NOT NULL
);
DROP TABLE orders;
CREATE TABLE orders (
  o_id INTEGER NOT NULL,
  o_d_id INTEGER NOT NULL,
  o_w_id INTEGER NOT NULL,
  o_c_id INTEGER NOT NULL,
  o_entry_d TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL,
  o_carrier_id INTEGER,
  o_ol_cnt INTEGER NOT NULL,
  o_all_local INTEGER NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE INDEX orders_o_w_id_o_d_id_o_c_id_o_id ON orders (o_w_id, o_d_id, o_c_id, o_id);
DROP TABLE order_line;
CREATE TABLE order_line (
  ol_o_id INTEGER NOT NULL,
  ol_d_id INTEGER NOT NULL,
  ol_w_id INTEGER NOT NULL,
  ol_number INTEGER NOT NULL,
  ol_i_id INTEGER NOT NULL,
  ol_supply_w_id INTEGER NOT NULL,
  ol_delivery_d TIMESTAMP(6) WITHOUT TIME ZONE,
  ol_quantity INTEGER NOT NULL,
  ol_amount DECIMAL(6,2) NOT NULL,
  ol_dist_info CHAR(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
DROP TABLE new_order;
CREATE TABLE new_order (
  no_o_id INTEGER NOT NULL,
  no_d_id INTEGER NOT NULL,
  no_w_id INTEGER NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
-- tpch
DROP TABLE region;
CREATE TABLE region (
  r_regionkey INTEGER NOT NULL,
  r_name VARCHAR(25) NOT NULL,
  r_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (r_regionkey)
);
DROP TABLE nation;
CREATE TABLE nation (
  n_nationkey INTEGER NOT NULL,
  n_name VARCHAR(25) NOT NULL,
  n_regionkey INTEGER NOT NULL,
  n_comment VARCHAR(152) NOT NULL,
  PRIMARY KEY (n_nationkey)
);
CREATE INDEX nation_n_regionkey ON nation (n_regionkey);
DROP TABLE supplier;
CREATE TABLE supplier (
  s_suppkey INTEGER NOT NULL,
  s_name VARCHAR(25) NOT NULL,
  s_address VARCHAR(40) NOT NULL,
  s_nationkey INTEGER NOT NULL,
  s_phone VARCHAR(15) NOT NULL,
  s_acctbal DECIMAL(15,2) NOT NULL,
  s_comment VARCHAR(101) NOT NULL,
  PRIMARY KEY (s_suppkey)
);
CREATE INDEX supplier_s_nationkey ON supplier (s_nationkey);
DROP TABLE customer;
CREATE TABLE customer (
  c_custkey INTEGER NOT NULL,
  c_name VARCHAR(25) NOT NULL,
  c_address VARCHAR(40) NOT NULL,
  c_nationkey INTEGER NOT NULL,
  c_phone VARCHAR(15) NOT NULL,
  c_acctbal DECIMAL(15,2) NOT NULL,
  c_mktsegment VARCHAR(10) NOT NULL,
  c_comment VARCHAR(117) NOT NULL,
  PRIMARY KEY (c_custkey)
);
CREATE INDEX customer_c_nationkey ON customer (c_nationkey);
DROP TABLE part;
CREATE TABLE part (
  p_partkey INTEGER NOT NULL,
  p_name VARCHAR(55) NOT NULL,
  p_mfgr VARCHAR(25) NOT NULL,
  p_brand VARCHAR(10) NOT NULL,
  p_type VARCHAR(25) NOT NULL,
  p_size INTEGER NOT NULL,
  p_container VARCHAR(10) NOT NULL,
  p_retailprice DECIMAL(15,2) NOT NULL,
  p_comment VARCHAR(23) NOT NULL,
  PRIMARY KEY (p_partkey)
);
DROP TABLE partsupp;
CREATE TABLE partsupp (
  ps_partkey INTEGER NOT NULL,
  ps_suppkey INTEGER NOT NULL,
  ps_availqty INTEGER NOT NULL,
  ps_supplycost DECIMAL(15,2) NOT NULL,
  ps_comment VARCHAR(199) NOT NULL,
  PRIMARY KEY (ps_partkey, ps_suppkey)
);
CREATE INDEX partsupp_ps_suppkey ON partsupp (ps_suppkey);
DROP TABLE orders;
CREATE TABLE orders (
  o_orderkey BIGINT NOT NULL,
  o_custkey INTEGER NOT NULL,
  o_orderstatus CHAR(1) NOT NULL,
  o_totalprice DECIMAL(15,2) NOT NULL,
  o_orderdate ANSIDATE NOT NULL,
  o_orderpriority VARCHAR(15) NOT NULL,
  o_clerk VARCHAR(15) NOT NULL,
  o_shippriority INTEGER NOT NULL,
  o_comment VARCHAR(79) NOT NULL,
  PRIMARY KEY (o_orderkey)
);
CREATE INDEX orders_o_custkey ON orders (o_custkey);
DROP TABLE lineitem;
CREATE TABLE lineitem (
  l_orderkey BIGINT NOT NULL,
  l_partkey INTEGER NOT NULL,
  l_suppkey INTEGER NOT NULL,
  l_linenumber INTEGER NOT NULL,
  l_quantity DECIMAL(15,2) NOT NULL,
  l_extendedprice DECIMAL(15,2) NOT NULL,
  l_discount DECIMAL(15,2) NOT NULL,
  l_tax DECIMAL(15,2) NOT NULL,
  l_returnflag CHAR(1) NOT NULL,
  l_linestatus CHAR(1) NOT NULL,
  l_shipdate ANSIDATE NOT NULL,
  l_commitdate ANSIDATE NOT NULL,
  l_receiptdate ANSIDATE NOT NULL,
  l_shipinstruct VARCHAR(25) NOT NULL,
  l_shipmode VARCHAR(10) NOT NULL,
  l_comment VARCHAR(44) NOT NULL,
  PRIMARY KEY (l_orderkey, l_linenumber)
);
CREATE INDEX lineitem_l_partkey_l_suppkey ON lineitem (l_partkey, l_suppkey);
CREATE INDEX lineitem_l_suppkey ON lineitem (l_suppkey);
-- wisconsin
DROP TABLE tenktup1;
CREATE TABLE tenktup1 (
  unique1 INTEGER NOT NULL,
  unique2 INTEGER NOT NULL,
  two INTEGER NOT NULL,
  four INTEGER NOT NULL,
  ten INTEGER NOT NULL,
  twenty INTEGER NOT NULL,
  onepercent INTEGER NOT NULL,
  tenpercent INTEGER NOT NULL,
  twentypercent INTEGER NOT NULL,
  fiftypercent INTEGER NOT NULL,
  unique3 INTEGER NOT NULL,
  evenonepercent INTEGER NOT NULL,
  oddonepercent INTEGER NOT NULL,
  stringu1 CHAR(52) NOT NULL,
  stringu2 CHAR(52) NOT NULL,
  string4 CHAR(52) NOT NULL
);
DROP TABLE onektup;
CREATE TABLE onektup (
  unique1 INTEGER NOT NULL,
  unique2 INTEGER NOT NULL,
  two INTEGER NOT NULL,
  four INTEGER NOT NULL,
  ten INTEGER NOT NULL,
  twenty INTEGER NOT NULL,
  onepercent INTEGER NOT NULL,
  tenpercent INTEGER NOT NULL,
  twentypercent INTEGER NOT NULL,
  fiftypercent INTEGER NOT NULL,
  unique3 INTEGER NOT NULL,
  evenonepercent INTEGER NOT NULL,
  oddonepercent INTEGER NOT NULL,
  stringu1 CHAR(52) NOT NULL,
  stringu2 CHAR(52) NOT NULL,
  string4 CHAR(52) NOT NULL
);
-- ycsb
DROP TABLE usertable;
CREATE TABLE usertable (
  ycsb_key VARCHAR(255) NOT NULL,
  field0 LONG VARCHAR,
  field1 LONG VARCHAR,
  field2 LONG VARCHAR,
  field3 LONG VARCHAR,
  field4 LONG VARCHAR,
  field5 LONG VARCHAR,
  field6 LONG VARCHAR,
  field7 LONG VARCHAR,
  field8 LONG VARCHAR,
  field9 LONG VARCHAR,
  PRIMARY KEY (ycsb_key)
);
