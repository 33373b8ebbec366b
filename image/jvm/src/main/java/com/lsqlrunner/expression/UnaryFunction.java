package com.lsqlrunner.expression;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeBlock;
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A function of one value that is too large to be compiled into a stage; null stays null. */
public abstract class UnaryFunction extends Expression implements Serializable {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings("serial") // Spark's expressions can be serialized, which is not written in their types.
  protected final Expression child;

  protected UnaryFunction(Expression child) {
    this.child = child;
  }

  /** The value for one that is not null. */
  protected abstract Object apply(Object value);

  /** The same of another child. */
  protected abstract UnaryFunction of(Expression other);

  @Override
  public Object eval(InternalRow row) {
    Object value = child.eval(row);
    return value == null ? null : apply(value);
  }

  /** Calls {@code method} of this object, public and of one argument. */
  protected ExprCode call(String method, CodegenContext context, ExprCode result) {
    String self = context.addReferenceObj(method, this, getClass().getName());
    ExprCode argument = child.genCode(context);
    String type = CodeGenerator.boxedType(dataType());
    String text =
        """
        boolean %1$s = true;
        %2$s %3$s = %4$s;
        if (!%5$s) {
          %6$s %7$s = (%6$s) %8$s.%9$s(%10$s);
          if (%7$s != null) {
            %3$s = %7$s;
            %1$s = false;
          }
        }
        """
            .formatted(
                result.isNull(),
                CodeGenerator.javaType(dataType()),
                result.value(),
                CodeGenerator.defaultValue(dataType(), false),
                argument.isNull(),
                type,
                context.freshName("found"),
                self,
                method,
                argument.value());
    CodeBlock code = new CodeBlock(seq(List.of(text)), seq(List.of()));
    return result.copy(argument.code().$plus(code), result.isNull(), result.value());
  }

  protected static <T> Seq<T> seq(List<T> items) {
    return CollectionConverters.asScala(items).toSeq();
  }

  @Override
  public Seq<Expression> children() {
    return seq(List.of(child));
  }

  @Override
  public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
    return of(children.apply(0));
  }

  @Override
  public boolean nullable() {
    return true;
  }

  @Override
  public boolean canEqual(Object other) {
    return other != null && getClass() == other.getClass();
  }
}
