import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import it.unibz.inf.ontop.injection.OntopStandaloneSQLConfiguration;
import it.unibz.inf.ontop.rdf4j.repository.OntopRepository;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import org.eclipse.rdf4j.model.IRI;
import org.eclipse.rdf4j.model.Literal;
import org.eclipse.rdf4j.model.Statement;
import org.eclipse.rdf4j.model.Value;
import org.eclipse.rdf4j.model.vocabulary.RDF;
import org.eclipse.rdf4j.query.MalformedQueryException;
import org.eclipse.rdf4j.query.QueryLanguage;
import org.eclipse.rdf4j.query.parser.ParsedBooleanQuery;
import org.eclipse.rdf4j.query.parser.QueryParserUtil;
import org.eclipse.rdf4j.query.resultio.sparqljson.SPARQLBooleanJSONWriter;
import org.eclipse.rdf4j.query.resultio.sparqljson.SPARQLResultsJSONWriter;
import org.eclipse.rdf4j.query.resultio.text.csv.SPARQLResultsCSVWriter;
import org.eclipse.rdf4j.repository.Repository;
import org.eclipse.rdf4j.rio.RDFFormat;
import org.eclipse.rdf4j.rio.Rio;
import org.slf4j.LoggerFactory;

/** Serves a file of N-Triples as a virtual graph over tables of three columns in H2: HOST PORT FILE. */
public class OntopServer {
    private static final String URL = "jdbc:h2:mem:triples;DB_CLOSE_DELAY=-1";

    public static void main(String[] arguments) throws Exception {
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        var mapping = fill(Path.of(arguments[2]));
        Repository repository = OntopRepository.defaultRepository(OntopStandaloneSQLConfiguration.defaultBuilder()
            .nativeOntopMappingReader(new StringReader(mapping))
            .jdbcUrl(URL).jdbcUser("sa").jdbcPassword("").jdbcDriver("org.h2.Driver").build());
        repository.init();
        var server = HttpServer.create(
            new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 0);
        server.createContext("/sparql", exchange -> answer(repository, exchange));
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
    }

    /** Writes each kind of triple into a table, and returns the mapping: a kind is what a target can say. */
    private static String fill(Path file) throws Exception {
        var tables = new LinkedHashMap<String, Integer>();
        var mapping = new StringBuilder("[MappingDeclaration] @collection [[\n");
        try (Connection database = DriverManager.getConnection(URL, "sa", ""); var input = Files.newInputStream(file)) {
            for (Statement triple : Rio.parse(input, RDFFormat.NTRIPLES)) {
                var predicate = triple.getPredicate().equals(RDF.TYPE) ? "a" : "<{P}>";
                var target = node(triple.getSubject(), "S") + " " + predicate + " " + node(triple.getObject(), "O");
                var known = tables.get(target);
                var number = known != null ? known : tables.size();
                if (known == null) {
                    tables.put(target, number);
                    database.createStatement().execute("CREATE TABLE T" + number
                        + " (S VARCHAR NOT NULL, P VARCHAR NOT NULL, O VARCHAR NOT NULL, PRIMARY KEY (S, P, O))");
                    mapping.append("mappingId T" + number + "\ntarget " + target + " .\n"
                        + "source SELECT S, P, O FROM T" + number + "\n\n");
                }
                var row = database.prepareStatement("INSERT INTO T" + number + " VALUES (?, ?, ?)");
                row.setString(1, triple.getSubject().stringValue());
                row.setString(2, triple.getPredicate().stringValue());
                row.setString(3, triple.getObject().stringValue());
                row.execute();
            }
        }
        return mapping.append("]]\n").toString();
    }

    private static String node(Value value, String column) {
        if (value instanceof Literal literal) {
            return "{" + column + "}" + literal.getLanguage().map(tag -> "@" + tag)
                .orElse("^^<" + literal.getDatatype().stringValue() + ">");
        }
        return value instanceof IRI ? "<{" + column + "}>" : "_:{" + column + "}";
    }

    private static void answer(Repository repository, HttpExchange exchange) throws IOException {
        var status = 200;
        var body = new ByteArrayOutputStream();
        var accept = String.valueOf(exchange.getRequestHeaders().getFirst("Accept"));
        var type = accept.contains("text/csv") ? "text/csv" : "application/sparql-results+json";
        try (var connection = repository.getConnection()) {
            var query = query(exchange);
            // Its connection takes every query that it is not told more of for a SELECT.
            if (QueryParserUtil.parseQuery(QueryLanguage.SPARQL, query, null) instanceof ParsedBooleanQuery) {
                new SPARQLBooleanJSONWriter(body).handleBoolean(connection.prepareBooleanQuery(query).evaluate());
            } else {
                connection.prepareTupleQuery(query).evaluate(type.equals("text/csv")
                    ? new SPARQLResultsCSVWriter(body) : new SPARQLResultsJSONWriter(body));
            }
        } catch (RuntimeException error) {
            System.err.println(error);
            status = error instanceof MalformedQueryException ? 400 : 500;
            type = "text/plain; charset=utf-8";
            body.reset();
            body.write(String.valueOf(error.getMessage()).getBytes(UTF_8));
        }
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.size() == 0 ? -1 : body.size());
        body.writeTo(exchange.getResponseBody());
        exchange.close();
    }

    private static String query(HttpExchange exchange) throws IOException {
        var sent = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        var kind = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
        if (kind.startsWith("application/sparql-query")) {
            return sent;
        }
        var form = exchange.getRequestMethod().equals("POST") ? sent : exchange.getRequestURI().getRawQuery();
        Map<String, String> fields = new LinkedHashMap<>();
        for (var field : String.valueOf(form).split("&")) {
            var parts = field.split("=", 2);
            fields.put(parts[0], parts.length > 1 ? URLDecoder.decode(parts[1], UTF_8) : "");
        }
        if (!fields.containsKey("query")) {
            throw new MalformedQueryException("there is no query");
        }
        return fields.get("query");
    }
}
