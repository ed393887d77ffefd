// summary: Makes a full-text index of the names of all nodes; for the operator, never sent.
CREATE FULLTEXT INDEX FOR (n:{labels}) ON EACH [{properties}];
