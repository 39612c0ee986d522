\set id random(1, 30)
SELECT balance FROM accounts WHERE id = :id;
UPDATE accounts SET balance = balance + 1 WHERE id = :id;
