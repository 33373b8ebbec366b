package com.lsqlrunner.text;

import static javax.xml.stream.XMLStreamConstants.CDATA;
import static javax.xml.stream.XMLStreamConstants.CHARACTERS;
import static javax.xml.stream.XMLStreamConstants.END_ELEMENT;
import static javax.xml.stream.XMLStreamConstants.ENTITY_REFERENCE;
import static javax.xml.stream.XMLStreamConstants.SPACE;
import static javax.xml.stream.XMLStreamConstants.START_ELEMENT;

import com.ctc.wstx.exc.WstxLazyException;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import com.lsqlrunner.value.TextValues;
import com.lsqlrunner.value.TextValues.TextReader;
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
 * Creates readers of elements as values of a type. The fields of a struct are nested elements by their local names;
 * {@code _name} is the attribute {@code name}, {@code _VALUE} the text. An array is a repeated element. Other elements
 * and attributes are skipped.
 */
final class ElementReaders {
    private static final String ATTRIBUTE = "_";
    private static final String TEXT = "_VALUE";

    private ElementReaders() {}

    /** A reader of elements as values of a type. Arrays are only allowed as fields of a struct. */
    static ElementReader of(DataType type) {
        return type instanceof StructType struct ? struct(struct) : single(type);
    }

    private static ElementReader single(DataType type) {
        TextReader value = TextValues.of(type);
        boolean isText = type instanceof StringType;
        return (in, budget) -> {
            boolean isNil = isNil(in);
            String text = text(in);
            return isNil ? null : valueOf(text, value, isText);
        };
    }

    /** Blank text is a value only of the type string, and null for other types. */
    private static Object valueOf(String text, TextReader value, boolean isText) {
        return !isText && text.isBlank() ? null : value.read(UTF8String.fromString(text));
    }

    private static boolean isNil(XMLStreamReader in) {
        String nil = in.getAttributeValue(XMLConstants.W3C_XML_SCHEMA_INSTANCE_NS_URI, "nil");
        return nil != null && (nil.equals("true") || nil.equals("1"));
    }

    /** The text of an element without nested elements. */
    private static String text(XMLStreamReader in) throws XMLStreamException {
        String first = "";
        StringBuilder all = null; // only for text that comments divide, which is rare
        for (int event = in.next(); event != END_ELEMENT; event = in.next()) {
            if (event == START_ELEMENT) {
                throw new MalformedRecordException(
                        "it contains an element" + ShownValue.choose(", " + in.getLocalName(), ""));
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
            throw new MalformedRecordException(
                    ShownValue.choose("the entity %s is unknown".formatted(in.getLocalName()), "an entity is unknown"));
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
            DataType fieldType = fields[i].dataType();
            isArray[i] = fieldType instanceof ArrayType;
            isText[i] = fieldType instanceof StringType;
            if (name.equals(TEXT)) {
                texts[i] = TextValues.of(fieldType);
                text = i;
            } else if (name.startsWith(ATTRIBUTE)) {
                texts[i] = TextValues.of(fieldType);
                attributes.put(name.substring(ATTRIBUTE.length()), i);
            } else {
                readers[i] = of(fieldType instanceof ArrayType array ? array.elementType() : fieldType);
                elements.put(name, i);
            }
        }
        return new StructReader(elements, attributes, text, readers, texts, isArray, isText);
    }

    /**
     * Reads an element with attributes and nested elements.
     *
     * @param elements indexes of fields by element names
     * @param attributes indexes of fields by attribute names
     * @param text index of the field for the element's text; -1 for none
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
        public Object read(XMLStreamReader in, RecordBudget budget) throws XMLStreamException {
            if (isNil(in)) {
                skip(in);
                return null;
            }
            budget.takeFields(readers.length);
            Object[] values = new Object[readers.length];
            readAttributes(in, values);
            readElements(in, values, budget);
            return new GenericInternalRow(values);
        }

        private void readAttributes(XMLStreamReader in, Object[] values) {
            int count = attributes.isEmpty() ? 0 : in.getAttributeCount();
            for (int i = 0; i < count; i++) {
                Integer index = attributes.get(in.getAttributeLocalName(i));
                if (index != null) {
                    values[index] = convert(ATTRIBUTE + in.getAttributeLocalName(i), index, in.getAttributeValue(i));
                }
            }
        }

        private void readElements(XMLStreamReader in, Object[] values, RecordBudget budget) throws XMLStreamException {
            boolean[] seen = new boolean[values.length];
            StringBuilder own = text < 0 ? null : new StringBuilder();
            for (int event = in.next(); event != END_ELEMENT; event = in.next()) {
                refuseEntity(event, in);
                if (event == START_ELEMENT) {
                    readElement(in, values, seen, budget);
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
                values[text] = convert(TEXT, text, own.toString());
            }
        }

        private void readElement(XMLStreamReader in, Object[] values, boolean[] seen, RecordBudget budget)
                throws XMLStreamException {
            String name = in.getLocalName();
            Integer index = elements.get(name);
            if (index == null) {
                skip(in);
                return;
            }
            if (seen[index] && !isArray[index]) {
                throw new MalformedRecordException("it is repeated, but is not an array").inField(name);
            }
            seen[index] = true;
            try {
                if (isArray[index]) {
                    budget.takeItems(1);
                    itemsOf(values, index).add(readers[index].read(in, budget));
                } else {
                    values[index] = readers[index].read(in, budget);
                }
            } catch (MalformedRecordException error) {
                throw inElement(error, name, values, index);
            } catch (XMLStreamException error) {
                throw inElement(XmlErrors.malformed(error), name, values, index);
            } catch (WstxLazyException error) {
                throw inElement(XmlErrors.malformed(error), name, values, index);
            }
        }

        private MalformedRecordException inElement(
                MalformedRecordException error, String name, Object[] values, int index) {
            int item = isArray[index] ? itemsOf(values, index).size() : 0;
            return (isArray[index] ? error.inItem(item) : error).inField(name);
        }

        @SuppressWarnings("unchecked") // only this method stores lists
        private static List<Object> itemsOf(Object[] values, int index) {
            if (values[index] == null) {
                values[index] = new ArrayList<>();
            }
            return (List<Object>) values[index];
        }

        private Object convert(String name, int index, String text) {
            try {
                return valueOf(text, texts[index], isText[index]);
            } catch (MalformedRecordException error) {
                throw error.inField(name);
            }
        }
    }
}
