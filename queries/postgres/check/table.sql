-- summary: What a relation is (pg_class.relkind), and whether this user may change its rows.
-- $1 text: Its name, quoted.
-- $2 bigint: Rows at most.
SELECT c.relkind::text, has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
FROM pg_class AS c
WHERE c.oid = to_regclass($1)
LIMIT $2
