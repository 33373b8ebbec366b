package com.lsqlrunner.text;

import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Reads one element: from its start, on which the parser stands, to its end. Threads may share it. */
@FunctionalInterface
interface ElementReader {
    Object read(XMLStreamReader in) throws XMLStreamException;
}
