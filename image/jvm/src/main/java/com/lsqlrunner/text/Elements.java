package com.lsqlrunner.text;

import static javax.xml.stream.XMLStreamConstants.CDATA;
import static javax.xml.stream.XMLStreamConstants.CHARACTERS;
import static javax.xml.stream.XMLStreamConstants.END_ELEMENT;
import static javax.xml.stream.XMLStreamConstants.ENTITY_REFERENCE;
import static javax.xml.stream.XMLStreamConstants.SPACE;
import static javax.xml.stream.XMLStreamConstants.START_ELEMENT;

import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.text.TextValues.TextReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.XMLConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Elements as values of a type. A struct's fields are the elements within, by their local names; {@code _name} is the
 * attribute {@code name}, {@code _VALUE} the text. An array is an element that is repeated. What no field names is
 * skipped.
 */
final class Elements {
    private static final String ATTRIBUTE = "_";
    private static final String TEXT = "_VALUE";

    private Elements() {}

    /** A reader of elements as values of a type, which holds no array but in a struct's fields. */
    static ElementReader of(DataType type) {
        return type instanceof StructType struct ? struct(struct) : single(type);
    }

    private static ElementReader single(DataType type) {
        TextReader value = TextValues.of(type);
        boolean isText = type instanceof StringType;
        return in -> {
            boolean isNil = isNil(in);
            String text = text(in);
            return isNil ? null : valueOf(text, value, isText);
        };
    }

    /** Nothing but blanks is a text, and no value of any other type. */
    private static Object valueOf(String text, TextReader value, boolean isText) {
        return !isText && text.isBlank() ? null : value.read(UTF8String.fromString(text));
    }

    private static boolean isNil(XMLStreamReader in) {
        String nil = in.getAttributeValue(XMLConstants.W3C_XML_SCHEMA_INSTANCE_NS_URI, "nil");
        return nil != null && (nil.equals("true") || nil.equals("1"));
    }

    /** The text of an element without elements. */
    private static String text(XMLStreamReader in) throws XMLStreamException {
        String name = in.getLocalName();
        String first = "";
        StringBuilder all = null; // comments part a text, which is rare
        for (int event = in.next(); event != END_ELEMENT; event = in.next()) {
            if (event == START_ELEMENT) {
                throw new MalformedRecordException(
                        "the element %s holds an element, %s".formatted(name, in.getLocalName()));
            }
            refuseEntity(event, in);
            if (isCharacters(event)) {
                if (all == null && !first.isEmpty()) {
                    all = new StringBuilder(first);
                }
                first = in.getText();
                if (all != null) {
                    all.append(first);
                }
            }
        }
        return all == null ? first : all.toString();
    }

    private static boolean isCharacters(int event) {
        return event == CHARACTERS || event == CDATA || event == SPACE;
    }

    private static void refuseEntity(int event, XMLStreamReader in) {
        if (event == ENTITY_REFERENCE) {
            throw new MalformedRecordException("the entity %s is not known".formatted(in.getLocalName()));
        }
    }

    private static void skip(XMLStreamReader in) throws XMLStreamException {
        for (int depth = 1; depth > 0; ) {
            int event = in.next();
            depth += event == START_ELEMENT ? 1 : event == END_ELEMENT ? -1 : 0;
        }
    }

    private static ElementReader struct(StructType type) {
        Map<String, Integer> elements = new HashMap<>();
        Map<String, Integer> attributes = new HashMap<>();
        StructField[] fields = type.fields();
        ElementReader[] readers = new ElementReader[fields.length];
        TextReader[] texts = new TextReader[fields.length];
        boolean[] isArray = new boolean[fields.length];
        boolean[] isText = new boolean[fields.length];
        int text = -1;
        for (int i = 0; i < fields.length; i++) {
            String name = fields[i].name();
            DataType kind = fields[i].dataType();
            isArray[i] = kind instanceof ArrayType;
            isText[i] = kind instanceof StringType;
            if (name.equals(TEXT)) {
                texts[i] = TextValues.of(kind);
                text = i;
            } else if (name.startsWith(ATTRIBUTE)) {
                texts[i] = TextValues.of(kind);
                attributes.put(name.substring(ATTRIBUTE.length()), i);
            } else {
                readers[i] = of(kind instanceof ArrayType array ? array.elementType() : kind);
                elements.put(name, i);
            }
        }
        return new StructReader(elements, attributes, text, readers, texts, isArray, isText);
    }

    /**
     * Reads an element with parts.
     *
     * @param elements places of fields by the names of elements
     * @param attributes places of fields by the names of attributes
     * @param text place of the field with the element's own text; -1 for none
     */
    private record StructReader(
            Map<String, Integer> elements,
            Map<String, Integer> attributes,
            int text,
            ElementReader[] readers,
            TextReader[] texts,
            boolean[] isArray,
            boolean[] isText)
            implements ElementReader {

        @Override
        public Object read(XMLStreamReader in) throws XMLStreamException {
            if (isNil(in)) {
                skip(in);
                return null;
            }
            Object[] values = new Object[readers.length];
            readAttributes(in, values);
            readElements(in, values);
            return new GenericInternalRow(values);
        }

        private void readAttributes(XMLStreamReader in, Object[] values) {
            int count = attributes.isEmpty() ? 0 : in.getAttributeCount();
            for (int i = 0; i < count; i++) {
                Integer place = attributes.get(in.getAttributeLocalName(i));
                if (place != null) {
                    values[place] =
                            placed("the attribute " + in.getAttributeLocalName(i), place, in.getAttributeValue(i));
                }
            }
        }

        private void readElements(XMLStreamReader in, Object[] values) throws XMLStreamException {
            boolean[] seen = new boolean[values.length];
            StringBuilder own = text < 0 ? null : new StringBuilder();
            for (int event = in.next(); event != END_ELEMENT; event = in.next()) {
                refuseEntity(event, in);
                if (event == START_ELEMENT) {
                    readElement(in, values, seen);
                } else if (own != null && isCharacters(event)) {
                    own.append(in.getText());
                }
            }
            for (int i = 0; i < values.length; i++) {
                if (values[i] instanceof List<?> items) {
                    values[i] = new GenericArrayData(items.toArray());
                }
            }
            if (own != null) {
                values[text] = placed("the text", text, own.toString());
            }
        }

        private void readElement(XMLStreamReader in, Object[] values, boolean[] seen) throws XMLStreamException {
            String name = in.getLocalName();
            Integer place = elements.get(name);
            if (place == null) {
                skip(in);
                return;
            }
            if (seen[place] && !isArray[place]) {
                throw new MalformedRecordException("the element %s is there twice, and is no array".formatted(name));
            }
            seen[place] = true;
            Object value = readers[place].read(in);
            if (isArray[place]) {
                itemsOf(values, place).add(value);
            } else {
                values[place] = value;
            }
        }

        @SuppressWarnings("unchecked") // where a list is, only this puts it
        private static List<Object> itemsOf(Object[] values, int place) {
            if (values[place] == null) {
                values[place] = new ArrayList<>();
            }
            return (List<Object>) values[place];
        }

        private Object placed(String where, int place, String text) {
            try {
                return valueOf(text, texts[place], isText[place]);
            } catch (MalformedRecordException error) {
                throw new MalformedRecordException(where + ": " + error.reason());
            }
        }
    }
}
