package com.lsqlrunner.text;

import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Reads one element, from its start tag, at which the parser is, to its end tag. Threads may share it. */
@FunctionalInterface
interface ElementReader {
    Object read(XMLStreamReader in) throws XMLStreamException;
}
