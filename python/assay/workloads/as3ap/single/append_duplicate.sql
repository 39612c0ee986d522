-- append_duplicate: a key that exists: must be refused
insert into updates values
(6000, 0, 60000, 39997.90, 50005.00, 50005.00, '1985-11-10 00:00:00', 'CONTROLLER', 'ALICE IN WONDERLAND', 'UNIVERSITY OF ILLINOIS AT CHICAGO');
\expect error constraint
