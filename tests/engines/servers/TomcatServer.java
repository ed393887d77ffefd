import java.io.File;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Runs one web application in Tomcat: HOST PORT PATH WAR FOLDER. */
public class TomcatServer {
    public static void main(String[] arguments) throws Exception {
        var folder = new File(arguments[4]);
        // Tomcat makes neither of its folders itself.
        new File(folder, "webapps").mkdirs();
        var connector = new Connector();
        connector.setProperty("address", arguments[0]);
        connector.setPort(Integer.parseInt(arguments[1]));
        var tomcat = new Tomcat();
        tomcat.setBaseDir(folder.getPath());
        tomcat.setConnector(connector);
        tomcat.addWebapp(arguments[2], arguments[3]);
        tomcat.start();
        tomcat.getServer().await();
    }
}
