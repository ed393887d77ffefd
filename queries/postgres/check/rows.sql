-- summary: The number of rows of a relation, counted up to a bound.
-- $1 bigint: The bound.
-- $2 bigint: Rows at most.
SELECT count(*) FROM (SELECT FROM {table} LIMIT $1) AS found
LIMIT $2
