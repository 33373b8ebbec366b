package com.lsqlrunner.state;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate;
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.ObjectType;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Runs Spark's own aggregate functions outside of Spark's aggregation: a buffer for each group, adding rows, merging
 * buffers, results. A buffer is stored as bytes.
 */
final class Aggregates implements Serializable {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's expressions can be serialized, which is not written in their types.
    private final List<AggregateFunction> functions;

    @SuppressWarnings("serial")
    private final List<Attribute> input;

    private transient List<Slot> slots;
    private transient UnsafeProjection kept;
    private transient UnsafeProjection packed;

    private Aggregates(List<AggregateFunction> functions, List<Attribute> input) {
        this.functions = functions;
        this.input = input;
    }

    /** The functions of {@code rows.agg(...)}, each of them alone in its column. */
    static Aggregates of(Dataset<Row> aggregated) {
        LogicalPlan plan = ((org.apache.spark.sql.classic.Dataset<Row>) aggregated)
                .queryExecution()
                .analyzed();
        Aggregate found = (Aggregate) plan;
        List<AggregateFunction> functions = new ArrayList<>();
        for (NamedExpression column : CollectionConverters.asJava(found.aggregateExpressions())) {
            functions.add(((AggregateExpression) ((Alias) column).child()).aggregateFunction());
        }
        return new Aggregates(
                functions,
                new ArrayList<>(CollectionConverters.asJava(found.child().output())));
    }

    /** The number of columns of a row that is added. */
    int arguments() {
        return input.size();
    }

    /** An empty buffer. */
    InternalRow[] empty() {
        InternalRow[] buffer = new InternalRow[slots().size()];
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = slots.get(i).empty();
        }
        return buffer;
    }

    /** Adds a row. */
    void add(InternalRow[] buffer, InternalRow row) {
        for (int i = 0; i < buffer.length; i++) {
            slots().get(i).add(buffer[i], row);
        }
    }

    /** Merges another buffer into a buffer. */
    void merge(InternalRow[] buffer, InternalRow[] other) {
        for (int i = 0; i < buffer.length; i++) {
            slots().get(i).merge(buffer[i], other[i]);
        }
    }

    /** The results, packed. */
    byte[] results(InternalRow[] buffer) {
        Object[] found = new Object[buffer.length];
        for (int i = 0; i < buffer.length; i++) {
            found[i] = slots().get(i).result(buffer[i]);
        }
        return packed.apply(new GenericInternalRow(found)).copy().getBytes();
    }

    /** The bytes of a buffer. */
    byte[] bytes(InternalRow[] buffer) {
        List<Object> values = new ArrayList<>();
        for (int i = 0; i < buffer.length; i++) {
            slots().get(i).keep(buffer[i], values);
        }
        return kept.apply(new GenericInternalRow(values.toArray())).copy().getBytes();
    }

    /** The buffer that bytes were made of. */
    InternalRow[] buffer(byte[] bytes) {
        List<Slot> all = slots();
        UnsafeRow row = new UnsafeRow(
                all.stream().mapToInt(slot -> slot.schema().length()).sum());
        row.pointTo(bytes, bytes.length);
        InternalRow[] buffer = new InternalRow[all.size()];
        int place = 0;
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = all.get(i).restored(row, place);
            place += all.get(i).schema().length();
        }
        return buffer;
    }

    private List<Slot> slots() {
        if (slots == null) {
            slots = new ArrayList<>();
            StructType all = new StructType();
            StructType results = new StructType();
            for (AggregateFunction function : functions) {
                Slot slot = function instanceof DeclarativeAggregate declared
                        ? new Declared(declared, input)
                        : new Typed<>((TypedImperativeAggregate<?>) function, input);
                slots.add(slot);
                for (var field : slot.schema().fields()) {
                    all = all.add("b" + all.length(), field.dataType());
                }
                results = results.add("r" + results.length(), function.dataType());
            }
            kept = UnsafeProjection.create(all);
            packed = UnsafeProjection.create(results);
        }
        return slots;
    }

    private static <T> Seq<T> seq(List<T> items) {
        return CollectionConverters.asScala(items).toSeq();
    }

    private static <T> List<T> both(List<? extends T> one, List<? extends T> other) {
        List<T> all = new ArrayList<>(one);
        all.addAll(other);
        return all;
    }

    /** The expression over the places of a row in place of its attributes. */
    private static Expression bound(Expression expression, List<? extends Attribute> attributes) {
        return expression.transform(new AbstractPartialFunction<Expression, Expression>() {
            @Override
            public boolean isDefinedAt(Expression part) {
                return part instanceof AttributeReference;
            }

            @Override
            @SuppressWarnings("unchecked")
            public <A extends Expression, B> B applyOrElse(A part, Function1<A, B> otherwise) {
                for (int i = 0; i < attributes.size(); i++) {
                    Attribute attribute = attributes.get(i);
                    if (part instanceof AttributeReference own && own.exprId().equals(attribute.exprId())) {
                        return (B) new BoundReference(i, attribute.dataType(), attribute.nullable());
                    }
                }
                return otherwise.apply(part);
            }
        });
    }

    /** One function and its part of a buffer. */
    private interface Slot {
        StructType schema();

        InternalRow empty();

        void add(InternalRow buffer, InternalRow row);

        void merge(InternalRow buffer, InternalRow other);

        Object result(InternalRow buffer);

        void keep(InternalRow buffer, List<Object> values);

        InternalRow restored(InternalRow row, int place);
    }

    /** A function that consists of expressions over its buffer. */
    private static final class Declared implements Slot {
        private final StructType schema;
        private final MutableProjection initial;
        private final MutableProjection update;
        private final MutableProjection merge;
        private final Expression result;
        private final JoinedRow joined = new JoinedRow();

        Declared(DeclarativeAggregate function, List<Attribute> input) {
            schema = function.aggBufferSchema();
            List<AttributeReference> own = CollectionConverters.asJava(function.aggBufferAttributes());
            List<AttributeReference> others = CollectionConverters.asJava(function.inputAggBufferAttributes());
            initial = MutableProjection.create(function.initialValues());
            update =
                    MutableProjection.create(function.updateExpressions(), seq(Aggregates.<Attribute>both(own, input)));
            merge = MutableProjection.create(function.mergeExpressions(), seq(Aggregates.<Attribute>both(own, others)));
            result = bound(function.evaluateExpression(), own);
        }

        @Override
        public StructType schema() {
            return schema;
        }

        @Override
        public InternalRow empty() {
            InternalRow buffer = new GenericInternalRow(schema.length());
            initial.target(buffer).apply(InternalRow.empty());
            return buffer;
        }

        @Override
        public void add(InternalRow buffer, InternalRow row) {
            update.target(buffer).apply(joined.apply(buffer, row));
        }

        @Override
        public void merge(InternalRow buffer, InternalRow other) {
            merge.target(buffer).apply(joined.apply(buffer, other));
        }

        @Override
        public Object result(InternalRow buffer) {
            return result.eval(buffer);
        }

        @Override
        public void keep(InternalRow buffer, List<Object> values) {
            for (int i = 0; i < schema.length(); i++) {
                values.add(
                        buffer.isNullAt(i)
                                ? null
                                : buffer.get(i, schema.apply(i).dataType()));
            }
        }

        @Override
        public InternalRow restored(InternalRow row, int place) {
            Object[] values = new Object[schema.length()];
            for (int i = 0; i < values.length; i++) {
                values[i] = row.isNullAt(place + i)
                        ? null
                        : row.get(place + i, schema.apply(i).dataType());
            }
            return new GenericInternalRow(values);
        }
    }

    /** A function whose buffer is an object. */
    private static final class Typed<T> implements Slot {
        private static final DataType OBJECT = new ObjectType(Object.class);
        private static final StructType BYTES = new StructType().add("b", DataTypes.BinaryType);

        private final TypedImperativeAggregate<T> function;

        @SuppressWarnings("unchecked")
        Typed(TypedImperativeAggregate<T> given, List<Attribute> input) {
            function = (TypedImperativeAggregate<T>) bound(given, input);
        }

        @Override
        public StructType schema() {
            return BYTES;
        }

        @Override
        public InternalRow empty() {
            return new GenericInternalRow(new Object[] {function.createAggregationBuffer()});
        }

        @SuppressWarnings("unchecked")
        private T of(InternalRow buffer) {
            return (T) buffer.get(0, OBJECT);
        }

        @Override
        public void add(InternalRow buffer, InternalRow row) {
            buffer.update(0, function.update(of(buffer), row));
        }

        @Override
        public void merge(InternalRow buffer, InternalRow other) {
            buffer.update(0, function.merge(of(buffer), of(other)));
        }

        @Override
        public Object result(InternalRow buffer) {
            return function.eval(of(buffer));
        }

        @Override
        public void keep(InternalRow buffer, List<Object> values) {
            values.add(function.serialize(of(buffer)));
        }

        @Override
        public InternalRow restored(InternalRow row, int place) {
            return new GenericInternalRow(new Object[] {function.deserialize(row.getBinary(place))});
        }
    }
}
