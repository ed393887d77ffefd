// summary: The version and the edition of the server.
// $1 INTEGER: Rows at most.
CALL dbms.components() YIELD name, versions, edition
WITH [versions[0], edition] AS row
LIMIT $1
{chunks}
