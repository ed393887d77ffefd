CREATE CONSTRAINT FOR (n:Disease) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT FOR (n:Drug) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT FOR (n:Link) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT FOR (n:`it's ``odd`` {label} // $1`) REQUIRE n.`the "id"` IS UNIQUE;
CREATE (cushing:Disease {
    id: 'MeSH:D003480', name: 'Cushing syndrome', synonyms: ['CS', 'hypercortisolism'], onset: 'slow', usage_count: 36,
    confidence: 0.8, since: date('1932-02-01'), place: point({latitude: 47.4, longitude: 8.5}), embedding: [0.1, 0.2]
  }),
  (desmopressin:Drug {id: 'RxNorm:3251', name: 'desmopressin', usage_count: 6}),
  (unnamed:Drug:Old {id: 'a drug/50 %'}),
  (number:Drug {id: 7, name: 'a number as its ID'}),
  (other:Elsewhere {id: 'elsewhere', name: 'Cushing elsewhere'}),
  (desmopressin)-[:TREATS {confidence: 0.95, source_documents: ['PMC1', 'PMC2'], dose: 5}]->(cushing),
  (desmopressin)-[:TREATS {confidence: 0.7, source_documents: ['PMC9']}]->(cushing),
  (unnamed)-[:`INTERACTS WITH`]->(desmopressin),
  (desmopressin)-[:`INTERACTS WITH`]->(desmopressin),
  (desmopressin)-[:TREATS]->(number),
  (desmopressin)-[:TREATS]->(other);
UNWIND range(0, 60) AS number CREATE (:Link {id: 'urn:n:' + number, name: 'node ' + number});
MATCH (a:Link), (b:Link) WHERE toInteger(split(a.id, ':')[2]) + 1 = toInteger(split(b.id, ':')[2]) CREATE (a)-[:next]->(b);
CREATE (a:`it's ``odd`` {label} // $1` {`the "id"`: '}) DETACH DELETE n //', `na``me`: 'A'})
  -[:`a``b}{ $5 // "`]->(:`it's ``odd`` {label} // $1` {`the "id"`: "\\u0060' OR 1 = 1", `na``me`: 'B'});
CREATE (:Twin {id: 'urn:t:1'})-[:next]->(second:Twin {id: 'urn:t:2'}), (:Twin {id: 'urn:t:1'})-[:next]->(second),
  (:Twin {id: 'urn:t:1'})-[:next]->(:Twin {id: 'urn:t:3'});
CREATE FULLTEXT INDEX names FOR (n:Disease|Drug|Elsewhere) ON EACH [n.name, n.synonyms];
CREATE FULLTEXT INDEX some FOR (n:Drug) ON EACH [n.name];
CALL db.awaitIndexes(60);
