package com.lsqlrunner.text;

import com.lsqlrunner.bytes.RecordBudget;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Reads one element. The parser is at its start tag before, and at its end tag afterwards. Threads may share it. */
@FunctionalInterface
interface ElementReader {
    Object read(XMLStreamReader in, RecordBudget budget) throws XMLStreamException;
}
