// summary: The end of each query: rows, as a column `row`, in records of many, which is some times faster than a record each.
WITH collect(row) AS rows
UNWIND range(0, size(rows) - 1, 500) AS start
RETURN rows[start .. start + 500] AS rows
