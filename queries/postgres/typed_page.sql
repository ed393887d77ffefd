-- summary: The nodes of some types that come after an ID, in order.
-- $1 text[]: The types.
-- $2 text: The ID; null: the first page.
-- $3 bigint: Rows at most.
SELECT DISTINCT n.id AS n
FROM {nodes} AS n
WHERE (n.type = ANY ($1::text[]) OR n.properties -> '@type' ?| $1) AND ($2::text IS NULL OR n.id > $2)
ORDER BY n
LIMIT $3
