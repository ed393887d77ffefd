import fr.inria.corese.server.webservice.GraphProtocol;
import fr.inria.corese.server.webservice.SPARQLRestAPI;
import fr.inria.corese.server.webservice.SPARQLService;
import fr.inria.corese.sparql.triple.parser.Access;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;
import org.glassfish.jersey.media.multipart.MultiPartFeature;
import org.glassfish.jersey.server.ResourceConfig;
import org.glassfish.jersey.servlet.ServletContainer;

/** Serves Corese's own SPARQL resources: HOST PORT. Its own server binds to all addresses, and has no option for it. */
public class CoreseServer {
    public static void main(String[] arguments) throws Exception {
        Access.setMode(Access.Mode.SERVER);
        var server = new Server(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])));
        var resources = new ResourceConfig(
            SPARQLRestAPI.class, SPARQLService.class, GraphProtocol.class, MultiPartFeature.class);
        var context = new ServletContextHandler(server, "/");
        context.addServlet(new ServletHolder(new ServletContainer(resources)), "/*");
        server.start();
        server.join();
    }
}
