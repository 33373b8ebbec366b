package com.lsqlrunner.expression;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * What tells an expression from others of its class: the expressions that it computes from, and its literal parameters.
 * Scala's case classes give an expression its equality and its product; this is the same for those in Java.
 */
public final class Identity implements Serializable {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's expressions can be serialized, which is not written in their types.
    private final Expression[] children;

    @SuppressWarnings("serial") // Spark's types, texts and numbers
    private final Object[] parameters;

    public Identity(List<? extends Expression> children, Object... parameters) {
        this.children = children.toArray(new Expression[0]);
        this.parameters = parameters.clone();
    }

    /** A child by its place, from 0. */
    public Expression child(int place) {
        return children[place];
    }

    /** The children. */
    public List<Expression> children() {
        return Arrays.asList(children);
    }

    /** The children, for Scala. */
    public Seq<Expression> childSeq() {
        return CollectionConverters.asScala(children()).toSeq();
    }

    /** A parameter by its place, from 0. */
    public Object parameter(int place) {
        return parameters[place];
    }

    /** How many children and parameters there are. */
    public int size() {
        return children.length + parameters.length;
    }

    /** A child or, behind all of them, a parameter. */
    public Object element(int place) {
        return place < children.length ? children[place] : parameters[place - children.length];
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
