// summary: The labels of a database, whether they are in use or not.
// $1 INTEGER: Rows at most.
CALL db.labels() YIELD label
WITH [label] AS row
LIMIT $1
{chunks}
