// summary: The end of each query: rows, as a column `row`, in records of many, which is some times faster than a record each.
// Each record has the number of all rows, and there is one also without any: a proxy that left records out is noticed.
WITH collect(row) AS rows
UNWIND range(0, size(rows), 500) AS start
RETURN rows[start .. start + 500] AS rows, size(rows) AS total
