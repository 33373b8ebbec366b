package com.lsqlrunner.workers;

import com.lsqlrunner.PythonEntry;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.DeployMessages.MasterStateResponse;
import org.apache.spark.deploy.DeployMessages.RequestMasterState$;
import org.apache.spark.deploy.master.Master;
import org.apache.spark.deploy.master.WorkerInfo;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcEnv$;
import scala.reflect.ClassTag$;

/**
 * The master of Spark's standalone cluster, in the JVM of the driver. Workers register with it, and Spark starts an
 * executor on each of them.
 */
@PythonEntry
public final class Cluster {
    private static final String SYSTEM = "sparkMaster";
    private static final int DISPATCHER_THREADS = 2;

    private static RpcEndpointRef master;
    private static Admission admission;

    private Cluster() {}

    /**
     * Starts the master, and closes its web page, which Spark always opens.
     *
     * @param bindAddress the address on which it listens
     * @param host the name by which workers reach it
     * @param port the port
     * @param version the version of this processor; workers with another version are refused
     * @param settings of Spark
     */
    public static synchronized void start(
            String bindAddress, String host, int port, String version, Map<String, String> settings) {
        SparkConf conf = new SparkConf(false);
        settings.forEach(conf::set);
        SecurityManager security = Security.of(conf);
        RpcEnv env = RpcEnv$.MODULE$.create(SYSTEM, bindAddress, host, port, conf, security, DISPATCHER_THREADS, false);
        Master endpoint = new Master(env, env.address(), 0, security, conf);
        master = env.setupEndpoint(Master.ENDPOINT_NAME(), endpoint);
        state(); // the response follows the start of the page
        endpoint.org$apache$spark$deploy$master$Master$$webUi().stop();
        admission = new Admission(env, version);
        env.setupEndpoint(Admission.NAME, admission);
    }

    /**
     * The workers and the refused ones as a JSON object: {@code {"workers": [{"address", "cores", "state"}], "refused":
     * [{"address", "version"}]}}. Addresses are hosts and ports, versions have no character that JSON escapes.
     */
    public static String json() {
        Stream<WorkerInfo> workers = Stream.of(state().workers());
        return "{\"workers\": [%s], \"refused\": [%s]}"
                .formatted(
                        workers.map(Cluster::worker).collect(Collectors.joining(", ")),
                        refused(admission.takeRefused()));
    }

    private static MasterStateResponse state() {
        return master.askSync(RequestMasterState$.MODULE$, ClassTag$.MODULE$.apply(MasterStateResponse.class));
    }

    private static String worker(WorkerInfo worker) {
        return "{\"address\": \"%s\", \"cores\": %d, \"state\": \"%s\"}"
                .formatted(worker.hostPort(), worker.cores(), worker.state());
    }

    private static String refused(List<Admission.Refused> all) {
        return all.stream()
                .map(worker ->
                        "{\"address\": \"%s\", \"version\": \"%s\"}".formatted(worker.address(), worker.version()))
                .collect(Collectors.joining(", "));
    }
}
