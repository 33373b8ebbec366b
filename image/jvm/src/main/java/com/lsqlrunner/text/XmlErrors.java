package com.lsqlrunner.text;

import com.ctc.wstx.exc.WstxLazyException;
import com.lsqlrunner.bytes.RecordBudget;
import com.lsqlrunner.errors.MalformedRecordException;
import com.lsqlrunner.errors.ShownValue;
import javax.xml.stream.Location;
import javax.xml.stream.XMLStreamException;

/** Errors of the XML parser as errors of the record. */
final class XmlErrors {
    private XmlErrors() {}

    /** The error of a record whose text is not XML. */
    static MalformedRecordException malformed(XMLStreamException error) {
        String message = String.valueOf(error.getMessage()).lines().findFirst().orElse("");
        if (message.startsWith("Maximum Element Depth")) {
            return RecordBudget.tooDeep();
        }
        Location place = error.getLocation();
        String where = place == null
                ? ""
                : ", at line %d, column %d".formatted(place.getLineNumber(), place.getColumnNumber());
        return new MalformedRecordException("it is not XML" + where + ShownValue.choose(": " + message, ""));
    }

    /** Woodstox parses text when it is requested, where it can throw no checked exception. */
    static MalformedRecordException malformed(WstxLazyException error) {
        return malformed((XMLStreamException) error.getCause());
    }
}
