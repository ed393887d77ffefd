-- summary: Some of the entities of some types.
-- $1 text[]: The types.
-- $2 bigint: Rows at most.
SELECT n.id AS n FROM {nodes} AS n WHERE n.type = ANY ($1::text[]) OR n.properties -> '@type' ?| $1
LIMIT $2
