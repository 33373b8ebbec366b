package com.lsqlrunner.text;

import static javax.xml.stream.XMLStreamConstants.END_DOCUMENT;
import static javax.xml.stream.XMLStreamConstants.START_ELEMENT;

import com.ctc.wstx.api.WstxInputProperties;
import com.ctc.wstx.exc.WstxLazyException;
import com.ctc.wstx.stax.WstxInputFactory;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import java.io.StringReader;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.apache.spark.sql.types.StructType;
import org.codehaus.stax2.XMLInputFactory2;

/** Decodes records of one XML document. Document types are refused, so only XML's five predefined entities exist. */
final class XmlDecoder {
    /** Creates parsers of Woodstox. The JDK's parsers take twice the time, and print errors. */
    private static final XMLInputFactory PARSERS = newParsers();

    private final ElementReader root;
    private final String rowTag;

    /** @param rowTag the local name of the root element; empty for any name */
    XmlDecoder(StructType type, String rowTag) {
        this.root = ElementReaders.of(type);
        this.rowTag = rowTag;
    }

    Object decode(byte[] record) {
        String text = XmlEncoding.decoded(record);
        refuseDocumentType(text);
        try {
            XMLStreamReader in = PARSERS.createXMLStreamReader(new StringReader(text));
            RecordBudget budget = new RecordBudget();
            budget.start(record.length);
            Object value = document(in, budget);
            in.close();
            return value;
        } catch (XMLStreamException error) {
            throw XmlErrors.malformed(error);
        } catch (WstxLazyException error) {
            throw XmlErrors.malformed(error);
        }
    }

    private Object document(XMLStreamReader in, RecordBudget budget) throws XMLStreamException {
        Object value = null;
        for (int event = in.next(); event != END_DOCUMENT; event = in.next()) {
            if (event == START_ELEMENT) {
                if (!rowTag.isEmpty() && !rowTag.equals(in.getLocalName())) {
                    throw new MalformedRecordException(ShownValue.choose(
                            "its root is %s, not %s".formatted(in.getLocalName(), rowTag),
                            "its root is not " + rowTag));
                }
                value = root.read(in, budget);
            }
        }
        return value;
    }

    /** Runs before the parser: a parser with document types disabled still searches for their end. */
    private static void refuseDocumentType(String text) {
        int at = 0;
        while (at >= 0) {
            while (at < text.length() && text.charAt(at) <= ' ') {
                at++;
            }
            if (text.startsWith("<!DOCTYPE", at)) {
                throw new MalformedRecordException("it has a document type, which is not read");
            }
            at = text.startsWith("<!--", at)
                    ? indexAfter("-->", text, at + 4)
                    : text.startsWith("<?", at) ? indexAfter("?>", text, at) : -1;
        }
    }

    private static int indexAfter(String end, String text, int from) {
        int at = text.indexOf(end, from);
        return at < 0 ? -1 : at + end.length();
    }

    private static XMLInputFactory newParsers() {
        XMLInputFactory parsers = new WstxInputFactory();
        parsers.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        parsers.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        parsers.setProperty(XMLInputFactory.IS_COALESCING, true);
        parsers.setProperty(XMLInputFactory2.P_INTERN_NAMES, false);
        parsers.setProperty(WstxInputProperties.P_MAX_ELEMENT_DEPTH, RecordBudget.MAX_DEPTH);
        return parsers;
    }
}
