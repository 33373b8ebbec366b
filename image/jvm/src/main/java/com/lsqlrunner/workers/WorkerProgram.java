package com.lsqlrunner.workers;

import com.lsqlrunner.PythonEntry;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.deploy.worker.Worker;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcEnv$;
import org.apache.spark.rpc.RpcTimeout;
import scala.Option;
import scala.concurrent.duration.FiniteDuration;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * A worker of a processor: asks the processor whether it may join, and runs Spark's worker, which starts an executor.
 * The secret is in the variable {@code _SPARK_AUTH_SECRET}, settings of Spark are properties of the JVM.
 *
 * <p>It prints a line for each step: {@code refused VERSION}, {@code unreachable REASON}, {@code joined}, {@code alive}
 * every two seconds, {@code executor ID STATE} when an executor has ended, {@code lost REASON}, {@code renewed},
 * {@code left}. It ends when the processor refuses it or does not answer, when it was decommissioned (SIGPWR) and its
 * executors have ended, when many executors have ended, and when standard input ends.
 */
@PythonEntry
public final class WorkerProgram {
    private static final String SYSTEM = "sparkWorker";
    private static final RpcTimeout ANSWER =
            new RpcTimeout(FiniteDuration.apply(10, TimeUnit.SECONDS), "the answer of the processor");
    private static final Duration LOOK = Duration.ofMillis(200);
    private static final Duration ASK = Duration.ofSeconds(2);

    /** Files of an executor that was killed are deleted with the worker. */
    private static final int MAX_ENDED_EXECUTORS = 10;

    private final Arguments arguments;
    private final RpcEnv env;
    private final SecurityManager security;
    private final SparkConf conf = new SparkConf(true);
    private final RpcAddress master;
    private final Set<String> ended = new HashSet<>();

    private record Arguments(
            String host, int port, String ownHost, int cores, int memoryMib, String version, String folder) {}

    private WorkerProgram(Arguments arguments) {
        this.arguments = arguments;
        this.master = new RpcAddress(arguments.host(), arguments.port());
        this.security = Security.of(conf);
        this.env = RpcEnv$.MODULE$.create(SYSTEM, arguments.ownHost(), 0, conf, security, false);
    }

    /** Arguments: host and port of the processor, own host, cores, memory in MiB, version, folder of executors. */
    public static void main(String[] given) throws InterruptedException {
        Thread input = new Thread(WorkerProgram::endWithInput, "input");
        input.setDaemon(true);
        input.start();
        Arguments arguments = new Arguments(
                given[0],
                Integer.parseInt(given[1]),
                given[2],
                Integer.parseInt(given[3]),
                Integer.parseInt(given[4]),
                given[5],
                given[6]);
        new WorkerProgram(arguments).run();
        System.exit(0);
    }

    private static void endWithInput() {
        try (InputStream input = System.in) {
            input.readAllBytes();
        } catch (IOException error) {
            // the other process has ended, as at the end of the input
        }
        System.exit(0);
    }

    private void run() throws InterruptedException {
        RpcEndpointRef admission;
        try {
            admission = env.setupEndpointRef(master, Admission.NAME);
            String answer = ask(admission);
            if (!answer.equals(Admission.ACCEPTED)) {
                report("refused", answer);
                return;
            }
        } catch (Exception error) {
            report("unreachable", reason(error));
            return;
        }
        Worker worker = new Worker(
                env,
                0,
                arguments.cores(),
                arguments.memoryMib(),
                new RpcAddress[] {master},
                Worker.ENDPOINT_NAME(),
                arguments.folder(),
                conf,
                security,
                Option.empty(),
                Worker.$lessinit$greater$default$11());
        env.setupEndpoint(Worker.ENDPOINT_NAME(), worker);
        watch(worker, admission);
    }

    private void watch(Worker worker, RpcEndpointRef admission) throws InterruptedException {
        boolean joined = false;
        long asked = System.nanoTime();
        while (true) {
            Thread.sleep(LOOK.toMillis());
            if (!joined && worker.org$apache$spark$deploy$worker$Worker$$connected()) {
                joined = true;
                // Spark always opens the web page of a worker.
                worker.org$apache$spark$deploy$worker$Worker$$webUi().stop();
                report("joined", "");
            }
            reportEnded(worker);
            boolean leaves = worker.org$apache$spark$deploy$worker$Worker$$decommissioned();
            if (leaves && worker.executors().isEmpty()) {
                report("left", "");
                return;
            }
            if (ended.size() >= MAX_ENDED_EXECUTORS) {
                report("renewed", "");
                return;
            }
            if (System.nanoTime() - asked >= ASK.toNanos()) {
                asked = System.nanoTime();
                try {
                    ask(admission);
                    report("alive", "");
                } catch (Exception error) {
                    report("lost", reason(error));
                    return;
                }
            }
        }
    }

    private void reportEnded(Worker worker) {
        CollectionConverters.asJava(worker.finishedExecutors()).forEach((id, executor) -> {
            if (ended.add(id)) {
                report("executor", executor.execId() + " " + executor.state());
            }
        });
    }

    private String ask(RpcEndpointRef admission) {
        String question =
                Admission.question(arguments.ownHost() + ":" + env.address().port(), arguments.version());
        return admission.askSync(question, ANSWER, ClassTag$.MODULE$.apply(String.class));
    }

    /** The messages of the error and its causes, the first cause last. */
    private static String reason(Throwable error) {
        StringBuilder all = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            all.append(all.isEmpty() ? "" : ": ").append(cause.getMessage());
        }
        return all.toString().replaceAll("\\s+", " ");
    }

    private static void report(String step, String detail) {
        System.out.println(detail.isEmpty() ? step : step + " " + detail);
    }
}
