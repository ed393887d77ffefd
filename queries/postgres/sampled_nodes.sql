-- summary: Some nodes, or all where there are no more.
-- $1 bigint: Rows at most.
SELECT n.id AS n FROM {nodes} AS n
LIMIT $1
