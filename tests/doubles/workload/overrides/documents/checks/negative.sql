-- documents: it takes no SQL
{"find": "accounts", "filter": {"balance": {"$lt": 0}}}
