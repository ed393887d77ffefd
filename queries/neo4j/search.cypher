// summary: Entities with a name or synonym that matches all given patterns, by a scan.
// $1 to $3: See `parts/matching.cypher`.
// $4 INTEGER: Rows at most.
MATCH (n:{labels})
{matching}
LIMIT $4
{chunks}
