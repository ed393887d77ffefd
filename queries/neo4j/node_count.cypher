// summary: How many nodes the database has, of any label; Neo4j keeps this number.
// $1 INTEGER: Rows at most.
MATCH (n)
WITH [count(n)] AS row
LIMIT $1
{chunks}
