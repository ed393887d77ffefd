-- summary: One row, from no table.
-- $1 bigint: Rows at most.
SELECT 1 AS alive LIMIT $1
