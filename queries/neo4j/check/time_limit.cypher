// summary: The longest time of a transaction, as the server writes it; not every user may ask.
// $1 INTEGER: Rows at most.
SHOW SETTINGS 'db.transaction.timeout' YIELD value
RETURN collect([value])[0 .. $1] AS rows, size(collect([value])[0 .. $1]) AS total
