-- documents: it takes no SQL
\set id random(1, 30)
{"find": "accounts", "filter": {"_id": :id}}
{"update": "accounts", "filter": {"_id": :id}, "with": {"$inc": {"balance": 1}}}
