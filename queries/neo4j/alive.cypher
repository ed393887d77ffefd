// summary: One row, from no node.
// $1 INTEGER: Rows at most.
WITH [1] AS row LIMIT $1
{chunks}
