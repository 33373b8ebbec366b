package com.lsqlrunner.sink;

import com.lsqlrunner.errors.Condition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The sinks by kind. The jars of their clients are in a separate folder and are opened for the first sink, so a
 * processor without sinks neither searches nor loads them.
 */
final class Sinks {
    /** A program has few sinks, which are used until the process ends. */
    private static final Map<Key, Sink> OPEN = new ConcurrentHashMap<>();

    private static final Map<String, String> CLASSES = Map.of(
            "postgresql", "com.lsqlrunner.sink.postgresql.PostgresSink",
            "redis", "com.lsqlrunner.sink.redis.RedisSink");

    private record Key(String kind, String jars, Map<String, String> settings) {}

    private Sinks() {}

    /**
     * The sink of a kind with these settings: {@code url}, {@code user}, {@code password}, {@code ca} (certificates as
     * PEM), {@code client} (the name that the server shows for its connections).
     *
     * @param jars the folder with the jars of the clients
     */
    static Sink of(String kind, String jars, Map<String, String> settings) {
        return OPEN.computeIfAbsent(new Key(kind, jars, settings), Sinks::open);
    }

    private static Sink open(Key key) {
        try {
            ClassLoader loader = new Loader(urls(Path.of(key.jars)), Sinks.class.getClassLoader());
            Class<?> sinkClass = Class.forName(CLASSES.get(key.kind), true, loader);
            return (Sink) sinkClass.getConstructor(Map.class).newInstance(key.settings);
        } catch (ReflectiveOperationException error) {
            Throwable cause = error.getCause() == null ? error : error.getCause();
            if (cause instanceof SinkException failure) {
                throw failure;
            }
            String reason = "the client of " + key.kind + " cannot be loaded from " + key.jars + ": " + cause;
            throw SinkException.of(Condition.LSQL_SINK_FAILED, reason);
        }
    }

    private static URL[] urls(Path folder) {
        List<URL> urls = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> jars = Files.newDirectoryStream(folder, "*.jar")) {
                for (Path jar : jars) {
                    urls.add(jar.toUri().toURL());
                }
            } catch (MalformedURLException error) {
                throw new IllegalStateException(error);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
        urls.add(Sinks.class.getProtectionDomain().getCodeSource().getLocation());
        return urls.toArray(URL[]::new);
    }

    /**
     * Loads the classes that use a client with the class loader of that client: the loader of the class path does not
     * find the client.
     */
    private static final class Loader extends URLClassLoader {
        Loader(URL[] urls, ClassLoader parent) {
            super(urls, parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("com.lsqlrunner.sink.redis.") && !name.startsWith("com.lsqlrunner.sink.postgresql.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known == null ? findClass(name) : known;
            }
        }
    }
}
