package com.lsqlrunner.avro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.util.RandomData;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random values that are read with another schema equal those that Avro's own reader returns. */
final class ResolutionTest {
    private static final String POINT = "{'type':'record','name':'P','fields':[{'name':'x','type':'%s'}%s]}";
    private static final String WRITER = "{'type':'record','name':'W','fields':["
            + "{'name':'gone','type':{'type':'map','values':['null','string']}},"
            + "{'name':'i','type':'int'},{'name':'f','type':['float','null']},{'name':'s','type':'string'},"
            + "{'name':'y','type':'string'},{'name':'e','type':{'type':'enum','name':'E','symbols':['A','B','C']}},"
            + "{'name':'u','type':['null','int','string',{'type':'array','items':'long'}]},"
            + "{'name':'ps','type':{'type':'array','items':" + POINT.formatted("int", ",{'name':'old','type':'double'}")
            + "}},"
            + "{'name':'m','type':{'type':'map','values':'P'}},"
            + "{'name':'x','type':{'type':'fixed','name':'X','size':4}}]}";
    private static final String READER = "{'type':'record','name':'W','fields':["
            + "{'name':'x','type':{'type':'fixed','name':'X','size':4}},"
            + "{'name':'m','type':{'type':'map','values':"
            + POINT.formatted("long", ",{'name':'new','type':'int','default':3}") + "}},"
            + "{'name':'ps','type':{'type':'array','items':['null','P']}},"
            + "{'name':'added','type':{'type':'map','values':'P'},'default':{'a':{'x':1}}},"
            + "{'name':'u','type':['string',{'type':'array','items':'double'},'long','null']},"
            + "{'name':'e','type':{'type':'enum','name':'E','symbols':['C','A','Z'],'default':'Z'}},"
            + "{'name':'text','type':'string','aliases':['y']},{'name':'bin','type':'bytes','aliases':['s']},"
            + "{'name':'f','type':['null','double']},{'name':'i','type':['null','double']}]}";

    private static Schema schema(String text) {
        return Records.schema(text.replace('\'', '"'));
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void valuesAreReadAsByAvrosOwnReader(boolean isSame) throws IOException {
        Schema writer = schema(WRITER);
        Schema reader = isSame ? writer : schema(READER);
        RecordDecoder ours = new RecordDecoder(reader, id -> id == 1 ? writer : reader);
        for (Object value : new RandomData(writer, 500, 42L)) {
            byte[] record = Records.bytes(1, writer, value);
            Object theirs = new GenericDatumReader<>(writer, reader)
                    .read(null, DecoderFactory.get().binaryDecoder(record, 5, record.length - 5, null));

            Object expected = ours.decode(Records.bytes(2, reader, theirs), new AvroInput());

            assertEquals(Records.shown(expected), Records.shown(ours.decode(record, new AvroInput())));
        }
    }
}
