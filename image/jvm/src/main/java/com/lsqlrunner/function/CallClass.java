package com.lsqlrunner.function;

import com.lsqlrunner.expression.Arguments;
import com.lsqlrunner.expression.LsqlExpression;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.Block;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A call of a user-defined function. Each task has its own object of the function's class, so that no two threads use
 * one.
 */
public final class CallClass extends LsqlExpression {
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // Spark's types are serializable, but their class does not declare it.
    private final DataType type;

    private transient UserFunction function;

    private CallClass(List<Expression> arguments, String declaration) {
        super(arguments, declaration);
        type = Declaration.of(declaration).result().asNullable();
    }

    /**
     * Creates a call, and the object of the class to find out whether it can be used.
     *
     * @param all the JSON of a {@link Declaration}, and the arguments
     */
    public static CallClass of(Arguments all) {
        List<Expression> arguments = List.copyOf(all.all().subList(1, all.all().size()));
        CallClass call = new CallClass(arguments, all.string(0));
        call.function();
        return call;
    }

    private UserFunction function() {
        if (function == null) {
            List<DataType> types = CollectionConverters.asJava(children()).stream()
                    .map(Expression::dataType)
                    .toList();
            function = UserFunction.create(Declaration.of(stringParameter(0)), types);
        }
        return function;
    }

    /** The result for values of Spark. Public, because generated code calls it. */
    public Object call(Object[] values) {
        return function().call(values);
    }

    @Override
    public Object eval(InternalRow row) {
        List<Expression> children = CollectionConverters.asJava(children());
        Object[] values = new Object[children.size()];
        for (int index = 0; index < values.length; index++) {
            values[index] = children.get(index).eval(row);
        }
        return call(values);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode result) {
        String values = context.freshName("values");
        Block code = block(
                "Object[] %s = new Object[%d];".formatted(values, children().size()));
        int index = 0;
        for (Expression child : CollectionConverters.asJava(children())) {
            ExprCode argument = child.genCode(context);
            // Janino converts a primitive value to an object in a call only.
            code = code.$plus(argument.code())
                    .$plus(block("%s[%d] = %s ? null : %s.boxed(%s);"
                            .formatted(
                                    values, index++, argument.isNull(), CallClass.class.getName(), argument.value())));
        }
        String text = """
        %1$s %2$s = (%1$s) %3$s.call(%4$s);
        boolean %5$s = %2$s == null;
        %6$s %7$s = %8$s;
        if (!%5$s) {
          %7$s = %2$s;
        }
        """.formatted(
                        CodeGenerator.boxedType(dataType()),
                        context.freshName("found"),
                        context.addReferenceObj("function", this, getClass().getName()),
                        values,
                        result.isNull(),
                        CodeGenerator.javaType(dataType()),
                        result.value(),
                        CodeGenerator.defaultValue(dataType(), false));
        return result.copy(code.$plus(block(text)), result.isNull(), result.value());
    }

    /** The value as an object. */
    public static Object boxed(Object value) {
        return value;
    }

    private static Block block(String text) {
        return new CodeBlock(seq(List.of(text)), seq(List.of()));
    }

    private static <T> Seq<T> seq(List<T> items) {
        return CollectionConverters.asScala(items).toSeq();
    }

    @Override
    public boolean nullable() {
        return true;
    }

    @Override
    public DataType dataType() {
        return type;
    }

    @Override
    protected CallClass withChildren(List<Expression> children) {
        return new CallClass(children, stringParameter(0));
    }

    @Override
    public String prettyName() {
        return "lsql_call_class";
    }
}
