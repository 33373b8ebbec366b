package com.lsqlrunner.expression;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The identity of an expression: its children and its literal parameters. Scala's case classes implement equality and
 * {@code Product}; this class does so for expressions in Java.
 */
public final class Identity implements Serializable {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's expressions are serializable, but their types do not declare it.
    private final Expression[] children;

    @SuppressWarnings("serial") // Spark's types, texts and numbers
    private final Object[] parameters;

    public Identity(List<? extends Expression> children, Object... parameters) {
        this.children = children.toArray(new Expression[0]);
        this.parameters = parameters.clone();
    }

    /** A child by its index, from 0. */
    public Expression child(int index) {
        return children[index];
    }

    /** The children. */
    public List<Expression> children() {
        return Arrays.asList(children);
    }

    /** The children, for Scala. */
    public Seq<Expression> childSeq() {
        return CollectionConverters.asScala(children()).toSeq();
    }

    /** A parameter by its index, from 0. */
    public Object parameter(int index) {
        return parameters[index];
    }

    /** The number of children and parameters. */
    public int size() {
        return children.length + parameters.length;
    }

    /** A child or, after all children, a parameter. */
    public Object element(int index) {
        return index < children.length ? children[index] : parameters[index - children.length];
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Identity that
                && Arrays.equals(children, that.children)
                && Arrays.equals(parameters, that.parameters);
    }

    @Override
    public int hashCode() {
        List<Object> all = new ArrayList<>(Arrays.asList(parameters));
        all.addAll(children());
        return all.hashCode();
    }
}
