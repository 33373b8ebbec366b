package com.lsqlrunner.workers;

import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;

/** Spark's authentication with the shared secret. */
final class Security {
    private Security() {}

    /** The security of the setting {@code spark.authenticate.secret}, or of the variable {@code _SPARK_AUTH_SECRET}. */
    static SecurityManager of(SparkConf conf) {
        return new SecurityManager(
                conf, SecurityManager.$lessinit$greater$default$2(), SecurityManager.$lessinit$greater$default$3());
    }
}
