-- a table is dropped, and looked at after its load
cubrid: DROP TABLE IF EXISTS t; UPDATE STATISTICS ON t
db2: DROP TABLE t; CALL SYSPROC.ADMIN_CMD('RUNSTATS ON TABLE t WITH DISTRIBUTION AND INDEXES ALL')
ingres: DROP TABLE t
oracle: DROP TABLE t PURGE; CALL DBMS_STATS.GATHER_TABLE_STATS(USER, 't')
sqlserver: DROP TABLE t; UPDATE STATISTICS t
-- all of them in one table
cubrid: CREATE TABLE "order" ( "data" INT DEFAULT 7 NOT NULL, is_good SMALLINT DEFAULT 1, born DATE DEFAULT '2000-01-31', name VARCHAR(9), place STRING, story STRING, "at" DATETIME, raw BIT VARYING, PRIMARY KEY ("data"), UNIQUE (name), UNIQUE (story) ); CREATE INDEX by_name ON "order" (name); CREATE INDEX by_story ON "order" (story); CREATE INDEX by_place ON "order" (place); CREATE INDEX b ON "order" (born, "at" DESC); ALTER TABLE "order" ADD CONSTRAINT f1 FOREIGN KEY ("data") REFERENCES t (id); ALTER TABLE "order" ADD CONSTRAINT f2 FOREIGN KEY (name) REFERENCES u (n)
db2: CREATE TABLE order ( data INTEGER DEFAULT 7 NOT NULL, is_good BOOLEAN DEFAULT TRUE, born DATE DEFAULT '2000-01-31', name VARCHAR(9 CODEUNITS32), place VARCHAR(400 CODEUNITS32), story CLOB(16M CODEUNITS32), at TIMESTAMP(6), raw BLOB(16M), PRIMARY KEY (data) ); CREATE INDEX by_name ON order (name); CREATE INDEX by_place ON order (place); CREATE INDEX b ON order (born, at DESC); ALTER TABLE order ADD CONSTRAINT f1 FOREIGN KEY (data) REFERENCES t (id); ALTER TABLE order ADD CONSTRAINT f2 FOREIGN KEY (name) REFERENCES u (n)
ingres: CREATE TABLE "order" ( data INTEGER DEFAULT 7 NOT NULL, is_good BOOLEAN DEFAULT TRUE, born ANSIDATE DEFAULT '2000-01-31', name VARCHAR(9), place VARCHAR(400), story LONG VARCHAR, "at" TIMESTAMP(6) WITHOUT TIME ZONE, raw LONG BYTE, PRIMARY KEY (data) ); CREATE INDEX by_name ON "order" (name); CREATE INDEX by_place ON "order" (place); CREATE INDEX b ON "order" (born, "at" DESC); ALTER TABLE "order" ADD CONSTRAINT f1 FOREIGN KEY (data) REFERENCES t (id); ALTER TABLE "order" ADD CONSTRAINT f2 FOREIGN KEY (name) REFERENCES u (n)
oracle: CREATE TABLE "order" ( data NUMBER(10) DEFAULT 7 NOT NULL, is_good NUMBER(1) DEFAULT 1, born DATE DEFAULT DATE '2000-01-31', name VARCHAR2(9 CHAR), place VARCHAR2(400 CHAR), story CLOB, at TIMESTAMP, "raw" BLOB, PRIMARY KEY (data), UNIQUE (name) ); CREATE INDEX by_place ON "order" (place); CREATE INDEX b ON "order" (born, at DESC); ALTER TABLE "order" ADD CONSTRAINT f1 FOREIGN KEY (data) REFERENCES t (id); ALTER TABLE "order" ADD CONSTRAINT f2 FOREIGN KEY (name) REFERENCES u (n)
sqlserver: CREATE TABLE "order" ( data INT DEFAULT 7 NOT NULL, is_good BIT DEFAULT 1, born DATE DEFAULT N'2000-01-31', name NVARCHAR(9), place NVARCHAR(400), story NVARCHAR(MAX), at DATETIME2(6), raw VARBINARY(MAX), PRIMARY KEY (data), UNIQUE (name) ); CREATE INDEX by_place ON "order" (place); CREATE INDEX b ON "order" (born, at DESC); ALTER TABLE "order" ADD CONSTRAINT f1 FOREIGN KEY (data) REFERENCES t (id); ALTER TABLE "order" ADD CONSTRAINT f2 FOREIGN KEY (name) REFERENCES u (n)
-- bigint not null
cubrid, db2, ingres, sqlserver: CREATE TABLE t ( c BIGINT NOT NULL )
oracle: CREATE TABLE t ( c NUMBER(19) NOT NULL )
-- bigint not null in the primary key
cubrid, db2, ingres, sqlserver: CREATE TABLE t ( c BIGINT NOT NULL, PRIMARY KEY (c) )
oracle: CREATE TABLE t ( c NUMBER(19) NOT NULL, PRIMARY KEY (c) )
-- char(22)
cubrid, ingres: CREATE TABLE t ( c CHAR(22) )
db2: CREATE TABLE t ( c CHAR(22 CODEUNITS32) )
oracle: CREATE TABLE t ( c CHAR(22 CHAR) )
sqlserver: CREATE TABLE t ( c NCHAR(22) )
-- char(88)
cubrid, ingres: CREATE TABLE t ( c CHAR(88) )
db2: CREATE TABLE t ( c CHAR(88 CODEUNITS32) )
oracle: CREATE TABLE t ( c CHAR(88 CHAR) )
sqlserver: CREATE TABLE t ( c NCHAR(88) )
-- char(60) not null default ''
cubrid, ingres: CREATE TABLE t ( c CHAR(60) DEFAULT '' NOT NULL )
db2: CREATE TABLE t ( c CHAR(60 CODEUNITS32) DEFAULT '' NOT NULL )
oracle: CREATE TABLE t ( c CHAR(60 CHAR) DEFAULT '' NOT NULL )
sqlserver: CREATE TABLE t ( c NCHAR(60) DEFAULT N'' NOT NULL )
-- char(120) not null default ''
cubrid, ingres: CREATE TABLE t ( c CHAR(120) DEFAULT '' NOT NULL )
db2: CREATE TABLE t ( c CHAR(120 CODEUNITS32) DEFAULT '' NOT NULL )
oracle: CREATE TABLE t ( c CHAR(120 CHAR) DEFAULT '' NOT NULL )
sqlserver: CREATE TABLE t ( c NCHAR(120) DEFAULT N'' NOT NULL )
-- char(1) not null
cubrid, ingres: CREATE TABLE t ( c CHAR(1) NOT NULL )
db2: CREATE TABLE t ( c CHAR(1 CODEUNITS32) NOT NULL )
oracle: CREATE TABLE t ( c CHAR(1 CHAR) NOT NULL )
sqlserver: CREATE TABLE t ( c NCHAR(1) NOT NULL )
-- char(88) not null
cubrid, ingres: CREATE TABLE t ( c CHAR(88) NOT NULL )
db2: CREATE TABLE t ( c CHAR(88 CODEUNITS32) NOT NULL )
oracle: CREATE TABLE t ( c CHAR(88 CHAR) NOT NULL )
sqlserver: CREATE TABLE t ( c NCHAR(88) NOT NULL )
-- char(1) not null in an index
cubrid, ingres: CREATE TABLE t ( c CHAR(1) NOT NULL ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c CHAR(1 CODEUNITS32) NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c CHAR(1 CHAR) NOT NULL ); CREATE INDEX i ON t (c)
sqlserver: CREATE TABLE t ( c NCHAR(1) NOT NULL ); CREATE INDEX i ON t (c)
-- char(10) not null in an index
cubrid, ingres: CREATE TABLE t ( c CHAR(10) NOT NULL ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c CHAR(10 CODEUNITS32) NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c CHAR(10 CHAR) NOT NULL ); CREATE INDEX i ON t (c)
sqlserver: CREATE TABLE t ( c NCHAR(10) NOT NULL ); CREATE INDEX i ON t (c)
-- char(10) not null in the primary key
cubrid, ingres: CREATE TABLE t ( c CHAR(10) NOT NULL, PRIMARY KEY (c) )
db2: CREATE TABLE t ( c CHAR(10 CODEUNITS32) NOT NULL, PRIMARY KEY (c) )
oracle: CREATE TABLE t ( c CHAR(10 CHAR) NOT NULL, PRIMARY KEY (c) )
sqlserver: CREATE TABLE t ( c NCHAR(10) NOT NULL, PRIMARY KEY (c) )
-- date not null
cubrid, db2, oracle, sqlserver: CREATE TABLE t ( c DATE NOT NULL )
ingres: CREATE TABLE t ( c ANSIDATE NOT NULL )
-- decimal(4,4) not null
cubrid: CREATE TABLE t ( c NUMERIC(4,4) NOT NULL )
db2, ingres, sqlserver: CREATE TABLE t ( c DECIMAL(4,4) NOT NULL )
oracle: CREATE TABLE t ( c NUMBER(4,4) NOT NULL )
-- decimal(18,2) not null
cubrid: CREATE TABLE t ( c NUMERIC(18,2) NOT NULL )
db2, ingres, sqlserver: CREATE TABLE t ( c DECIMAL(18,2) NOT NULL )
oracle: CREATE TABLE t ( c NUMBER(18,2) NOT NULL )
-- double not null
cubrid, db2: CREATE TABLE t ( c DOUBLE NOT NULL )
ingres: CREATE TABLE t ( c DOUBLE PRECISION NOT NULL )
oracle: CREATE TABLE t ( c BINARY_DOUBLE NOT NULL )
sqlserver: CREATE TABLE t ( c FLOAT(53) NOT NULL )
-- float not null
cubrid: CREATE TABLE t ( c FLOAT NOT NULL )
db2, ingres, sqlserver: CREATE TABLE t ( c REAL NOT NULL )
oracle: CREATE TABLE t ( c BINARY_FLOAT NOT NULL )
-- int
cubrid, sqlserver: CREATE TABLE t ( c INT )
db2, ingres: CREATE TABLE t ( c INTEGER )
oracle: CREATE TABLE t ( c NUMBER(10) )
-- int in a foreign key
cubrid, sqlserver: CREATE TABLE t ( c INT ); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (c) REFERENCES u (d)
db2, ingres: CREATE TABLE t ( c INTEGER ); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (c) REFERENCES u (d)
oracle: CREATE TABLE t ( c NUMBER(10) ); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (c) REFERENCES u (d)
-- int not null default '0'
cubrid, sqlserver: CREATE TABLE t ( c INT DEFAULT 0 NOT NULL )
db2, ingres: CREATE TABLE t ( c INTEGER DEFAULT 0 NOT NULL )
oracle: CREATE TABLE t ( c NUMBER(10) DEFAULT 0 NOT NULL )
-- int not null default '0' in an index
cubrid, sqlserver: CREATE TABLE t ( c INT DEFAULT 0 NOT NULL ); CREATE INDEX i ON t (c)
db2, ingres: CREATE TABLE t ( c INTEGER DEFAULT 0 NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c NUMBER(10) DEFAULT 0 NOT NULL ); CREATE INDEX i ON t (c)
-- int not null
cubrid, sqlserver: CREATE TABLE t ( c INT NOT NULL )
db2, ingres: CREATE TABLE t ( c INTEGER NOT NULL )
oracle: CREATE TABLE t ( c NUMBER(10) NOT NULL )
-- int not null in a foreign key
cubrid, sqlserver: CREATE TABLE t ( c INT NOT NULL ); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (c) REFERENCES u (d)
db2, ingres: CREATE TABLE t ( c INTEGER NOT NULL ); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (c) REFERENCES u (d)
oracle: CREATE TABLE t ( c NUMBER(10) NOT NULL ); ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (c) REFERENCES u (d)
-- int not null in an index
cubrid, sqlserver: CREATE TABLE t ( c INT NOT NULL ); CREATE INDEX i ON t (c)
db2, ingres: CREATE TABLE t ( c INTEGER NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c NUMBER(10) NOT NULL ); CREATE INDEX i ON t (c)
-- int not null in the primary key
cubrid, sqlserver: CREATE TABLE t ( c INT NOT NULL, PRIMARY KEY (c) )
db2, ingres: CREATE TABLE t ( c INTEGER NOT NULL, PRIMARY KEY (c) )
oracle: CREATE TABLE t ( c NUMBER(10) NOT NULL, PRIMARY KEY (c) )
-- int not null unique
cubrid, sqlserver: CREATE TABLE t ( c INT NOT NULL, UNIQUE (c) )
db2, ingres: CREATE TABLE t ( c INTEGER NOT NULL, UNIQUE (c) )
oracle: CREATE TABLE t ( c NUMBER(10) NOT NULL, UNIQUE (c) )
-- smallint not null default '0'
cubrid, db2, ingres, sqlserver: CREATE TABLE t ( c SMALLINT DEFAULT 0 NOT NULL )
oracle: CREATE TABLE t ( c NUMBER(5) DEFAULT 0 NOT NULL )
-- text
cubrid: CREATE TABLE t ( c STRING )
db2: CREATE TABLE t ( c CLOB(16M CODEUNITS32) )
ingres: CREATE TABLE t ( c LONG VARCHAR )
oracle: CREATE TABLE t ( c CLOB )
sqlserver: CREATE TABLE t ( c NVARCHAR(MAX) )
-- text in an index
cubrid: CREATE TABLE t ( c STRING ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c VARCHAR(400 CODEUNITS32) ); CREATE INDEX i ON t (c)
ingres: CREATE TABLE t ( c VARCHAR(400) ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c VARCHAR2(400 CHAR) ); CREATE INDEX i ON t (c)
sqlserver: CREATE TABLE t ( c NVARCHAR(400) ); CREATE INDEX i ON t (c)
-- text wide
cubrid: CREATE TABLE t ( c STRING )
db2: CREATE TABLE t ( c CLOB(16M CODEUNITS32) )
ingres: CREATE TABLE t ( c LONG VARCHAR )
oracle: CREATE TABLE t ( c CLOB )
sqlserver: CREATE TABLE t ( c NVARCHAR(MAX) )
-- text wide in an index
cubrid: CREATE TABLE t ( c STRING ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c CLOB(16M CODEUNITS32) )
ingres: CREATE TABLE t ( c LONG VARCHAR )
oracle: CREATE TABLE t ( c CLOB )
sqlserver: CREATE TABLE t ( c NVARCHAR(MAX) )
-- text not null
cubrid: CREATE TABLE t ( c STRING NOT NULL )
db2: CREATE TABLE t ( c CLOB(16M CODEUNITS32) NOT NULL )
ingres: CREATE TABLE t ( c LONG VARCHAR NOT NULL )
oracle: CREATE TABLE t ( c CLOB NOT NULL )
sqlserver: CREATE TABLE t ( c NVARCHAR(MAX) NOT NULL )
-- text not null unique
cubrid: CREATE TABLE t ( c STRING NOT NULL, UNIQUE (c) )
db2: CREATE TABLE t ( c CLOB(16M CODEUNITS32) NOT NULL )
ingres: CREATE TABLE t ( c LONG VARCHAR NOT NULL )
oracle: CREATE TABLE t ( c CLOB NOT NULL )
sqlserver: CREATE TABLE t ( c NVARCHAR(MAX) NOT NULL )
-- timestamp
cubrid: CREATE TABLE t ( c DATETIME )
db2: CREATE TABLE t ( c TIMESTAMP(6) )
ingres: CREATE TABLE t ( c TIMESTAMP(6) WITHOUT TIME ZONE )
oracle: CREATE TABLE t ( c TIMESTAMP )
sqlserver: CREATE TABLE t ( c DATETIME2(6) )
-- timestamp not null default '2010-07-30 16:25:44'
cubrid: CREATE TABLE t ( c DATETIME DEFAULT '2010-07-30 16:25:44' NOT NULL )
db2: CREATE TABLE t ( c TIMESTAMP(6) DEFAULT '2010-07-30 16:25:44' NOT NULL )
ingres: CREATE TABLE t ( c TIMESTAMP(6) WITHOUT TIME ZONE DEFAULT '2010-07-30 16:25:44' NOT NULL )
oracle: CREATE TABLE t ( c TIMESTAMP DEFAULT TIMESTAMP '2010-07-30 16:25:44' NOT NULL )
sqlserver: CREATE TABLE t ( c DATETIME2(6) DEFAULT N'2010-07-30 16:25:44' NOT NULL )
-- timestamp not null
cubrid: CREATE TABLE t ( c DATETIME NOT NULL )
db2: CREATE TABLE t ( c TIMESTAMP(6) NOT NULL )
ingres: CREATE TABLE t ( c TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL )
oracle: CREATE TABLE t ( c TIMESTAMP NOT NULL )
sqlserver: CREATE TABLE t ( c DATETIME2(6) NOT NULL )
-- timestamp not null in an index
cubrid: CREATE TABLE t ( c DATETIME NOT NULL ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c TIMESTAMP(6) NOT NULL ); CREATE INDEX i ON t (c)
ingres: CREATE TABLE t ( c TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c TIMESTAMP NOT NULL ); CREATE INDEX i ON t (c)
sqlserver: CREATE TABLE t ( c DATETIME2(6) NOT NULL ); CREATE INDEX i ON t (c)
-- timestamp not null in an index, descending
cubrid: CREATE TABLE t ( c DATETIME NOT NULL ); CREATE INDEX i ON t (c DESC)
db2: CREATE TABLE t ( c TIMESTAMP(6) NOT NULL ); CREATE INDEX i ON t (c DESC)
ingres: CREATE TABLE t ( c TIMESTAMP(6) WITHOUT TIME ZONE NOT NULL ); CREATE INDEX i ON t (c DESC)
oracle: CREATE TABLE t ( c TIMESTAMP NOT NULL ); CREATE INDEX i ON t (c DESC)
sqlserver: CREATE TABLE t ( c DATETIME2(6) NOT NULL ); CREATE INDEX i ON t (c DESC)
-- varchar(150)
cubrid, ingres: CREATE TABLE t ( c VARCHAR(150) )
db2: CREATE TABLE t ( c VARCHAR(150 CODEUNITS32) )
oracle: CREATE TABLE t ( c VARCHAR2(150 CHAR) )
sqlserver: CREATE TABLE t ( c NVARCHAR(150) )
-- varchar(1000)
cubrid, ingres: CREATE TABLE t ( c VARCHAR(1000) )
db2: CREATE TABLE t ( c VARCHAR(1000 CODEUNITS32) )
oracle: CREATE TABLE t ( c VARCHAR2(1000 CHAR) )
sqlserver: CREATE TABLE t ( c NVARCHAR(1000) )
-- varchar(5) not null
cubrid, ingres: CREATE TABLE t ( c VARCHAR(5) NOT NULL )
db2: CREATE TABLE t ( c VARCHAR(5 CODEUNITS32) NOT NULL )
oracle: CREATE TABLE t ( c VARCHAR2(5 CHAR) NOT NULL )
sqlserver: CREATE TABLE t ( c NVARCHAR(5) NOT NULL )
-- varchar(500) not null
cubrid, ingres: CREATE TABLE t ( c VARCHAR(500) NOT NULL )
db2: CREATE TABLE t ( c VARCHAR(500 CODEUNITS32) NOT NULL )
oracle: CREATE TABLE t ( c VARCHAR2(500 CHAR) NOT NULL )
sqlserver: CREATE TABLE t ( c NVARCHAR(500) NOT NULL )
-- varchar(10) not null in an index
cubrid, ingres: CREATE TABLE t ( c VARCHAR(10) NOT NULL ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c VARCHAR(10 CODEUNITS32) NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c VARCHAR2(10 CHAR) NOT NULL ); CREATE INDEX i ON t (c)
sqlserver: CREATE TABLE t ( c NVARCHAR(10) NOT NULL ); CREATE INDEX i ON t (c)
-- varchar(20) not null in an index
cubrid, ingres: CREATE TABLE t ( c VARCHAR(20) NOT NULL ); CREATE INDEX i ON t (c)
db2: CREATE TABLE t ( c VARCHAR(20 CODEUNITS32) NOT NULL ); CREATE INDEX i ON t (c)
oracle: CREATE TABLE t ( c VARCHAR2(20 CHAR) NOT NULL ); CREATE INDEX i ON t (c)
sqlserver: CREATE TABLE t ( c NVARCHAR(20) NOT NULL ); CREATE INDEX i ON t (c)
-- varchar(20) not null in the primary key
cubrid, ingres: CREATE TABLE t ( c VARCHAR(20) NOT NULL, PRIMARY KEY (c) )
db2: CREATE TABLE t ( c VARCHAR(20 CODEUNITS32) NOT NULL, PRIMARY KEY (c) )
oracle: CREATE TABLE t ( c VARCHAR2(20 CHAR) NOT NULL, PRIMARY KEY (c) )
sqlserver: CREATE TABLE t ( c NVARCHAR(20) NOT NULL, PRIMARY KEY (c) )
-- varchar(255) not null in the primary key
cubrid, ingres: CREATE TABLE t ( c VARCHAR(255) NOT NULL, PRIMARY KEY (c) )
db2: CREATE TABLE t ( c VARCHAR(255 CODEUNITS32) NOT NULL, PRIMARY KEY (c) )
oracle: CREATE TABLE t ( c VARCHAR2(255 CHAR) NOT NULL, PRIMARY KEY (c) )
sqlserver: CREATE TABLE t ( c NVARCHAR(255) NOT NULL, PRIMARY KEY (c) )
-- varchar(5) not null unique
cubrid, ingres: CREATE TABLE t ( c VARCHAR(5) NOT NULL, UNIQUE (c) )
db2: CREATE TABLE t ( c VARCHAR(5 CODEUNITS32) NOT NULL, UNIQUE (c) )
oracle: CREATE TABLE t ( c VARCHAR2(5 CHAR) NOT NULL, UNIQUE (c) )
sqlserver: CREATE TABLE t ( c NVARCHAR(5) NOT NULL, UNIQUE (c) )
-- varchar(64) not null unique
cubrid, ingres: CREATE TABLE t ( c VARCHAR(64) NOT NULL, UNIQUE (c) )
db2: CREATE TABLE t ( c VARCHAR(64 CODEUNITS32) NOT NULL, UNIQUE (c) )
oracle: CREATE TABLE t ( c VARCHAR2(64 CHAR) NOT NULL, UNIQUE (c) )
sqlserver: CREATE TABLE t ( c NVARCHAR(64) NOT NULL, UNIQUE (c) )
